"""A report's tables: one file for each, all of them pure, from a page's parts to a `Grid`."""
