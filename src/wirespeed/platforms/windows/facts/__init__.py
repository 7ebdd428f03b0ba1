"""What is read of Windows hosts: one file per source."""
