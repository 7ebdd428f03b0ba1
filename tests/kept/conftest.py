"""Described hosts that a former version applied something to are those of the approaches."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
