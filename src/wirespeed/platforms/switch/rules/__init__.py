"""Conditions of switches: one per file, pure."""
