"""Frozen types: what crosses a package or is written to a file. Imports nothing of ours."""
