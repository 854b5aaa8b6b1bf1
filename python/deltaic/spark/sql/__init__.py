"""Spark SQL on Delta tables: what `deltaic.spark.enable` adds to a session."""
