"""The results of the benchmark harness."""
