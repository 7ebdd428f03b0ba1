"""The only code that touches a command, a file on a host, or the clock."""
