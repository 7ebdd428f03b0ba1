"""The wire's tests send frames with the tester of the DUTs' tests; `claims` are those of apply, and
`program` is here."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "measure"))
sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "apply"))
