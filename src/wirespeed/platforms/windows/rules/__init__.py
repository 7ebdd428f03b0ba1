"""Conditions of Windows hosts: one per file, pure."""
