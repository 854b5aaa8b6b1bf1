"""Native scans: deltaic plans a read, and Spark's own Parquet reader reads the files."""
