"""Changes of WSL 2 and the Windows that it runs on: one per file, pure."""
