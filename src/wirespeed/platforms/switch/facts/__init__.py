"""What is read of switches: one file per source."""
