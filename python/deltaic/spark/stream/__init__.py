"""Delta tables as sources of streaming queries."""
