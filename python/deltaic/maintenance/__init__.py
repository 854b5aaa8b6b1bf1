"""Maintenance of a table: its files, its log and its condition."""
