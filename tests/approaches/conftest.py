"""Whole plans are carried out on described hosts, made of those of the steps and of captures."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS), str(TESTS / "steps"), str(Path(__file__).parent)]
