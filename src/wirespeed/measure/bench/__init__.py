"""DUTs, the tester and its trials."""
