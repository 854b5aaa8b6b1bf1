"""The Python data source, which reads what Spark's own reader cannot read exactly."""
