"""Changes of a table: rows, metadata and new tables."""
