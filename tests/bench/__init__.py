"""The benchmark harness, for its answers."""
