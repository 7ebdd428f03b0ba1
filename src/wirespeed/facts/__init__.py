"""What is read of a host: one file per source, found by itself."""
