"""Trials, searches and what became of every frame."""
