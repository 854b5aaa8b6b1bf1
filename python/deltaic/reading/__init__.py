"""Reading a table: snapshots, scans, changes and history."""
