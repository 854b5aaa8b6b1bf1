"""Boundaries: internal errors, signals, threads and forks, secrets, and paths outside of the table."""
