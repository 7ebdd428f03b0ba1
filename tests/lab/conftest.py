"""The wire's tests send frames with the tester of the DUTs' tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "measure"))
