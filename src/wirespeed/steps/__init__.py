"""One change of one thing per file, found by itself: its reading, its commands, its undo; pure."""
