"""A spec as the files of other tools: what each can say, and a list of what it cannot."""
