"""The kinds of host, one folder each: all that is of that kind alone."""
