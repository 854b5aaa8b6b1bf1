"""Writing of DataFrames to Delta tables."""
