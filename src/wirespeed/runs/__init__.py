"""What a command does: hosts reached, planned, changed, proven and put back; no command line."""
