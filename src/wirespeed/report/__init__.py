"""Turns trials.jsonl into pages and tables. Computes no verdict."""
