"""Whole hosts, described as files and answers of tools, and the doctor's answer about them."""
