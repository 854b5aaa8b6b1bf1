"""Tests of the Python API, one module for each method or property."""
