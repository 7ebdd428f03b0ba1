"""From facts and rules to an answer."""
