"""Tests of the house around the code: its tools, its recipes, its environments."""
