"""The border: faults, signals, threads and forks, secrets, and what lies outside of a table."""
