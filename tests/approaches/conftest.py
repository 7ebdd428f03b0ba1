"""Whole plans are carried out on described hosts, made of those of the steps and of captures."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
