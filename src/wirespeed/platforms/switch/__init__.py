"""Switches: what is read, judged and changed there, and how they are reached."""
