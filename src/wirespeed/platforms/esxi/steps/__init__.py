"""Changes of ESXi hosts: one per file, pure."""
