"""Answers about fleets and figures, in a database: SQLite, or PostgreSQL by its URL."""
