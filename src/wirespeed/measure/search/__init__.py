"""Searches for a rate, on anything that can be measured: pure."""
