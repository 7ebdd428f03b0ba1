"""A command of the user's own, measured side by side on two set-ups."""
