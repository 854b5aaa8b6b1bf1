"""A page about a table: its size over time, its files and commits, and the advice, in one HTML file."""
