"""One condition per file, found by itself: pure functions over the facts."""
