"""One package, so that a test can import its neighbour and two files may share a name."""
