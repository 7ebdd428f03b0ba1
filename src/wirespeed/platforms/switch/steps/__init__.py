"""Changes of switches: one per file, pure."""
