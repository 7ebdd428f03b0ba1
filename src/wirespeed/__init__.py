"""Takes a fast network card from as found to proven line rate, and can undo it all."""

__version__ = "0.1.0"
