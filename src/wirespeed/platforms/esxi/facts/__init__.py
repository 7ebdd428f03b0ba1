"""What is read of ESXi hosts: one file per source."""
