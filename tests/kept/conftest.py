"""Described hosts that a former version applied something to are those of the approaches."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS), str(TESTS / "approaches"), str(TESTS / "steps")]
