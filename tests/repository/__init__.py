"""Tests of the repository itself: documents, tools, recipes and environments."""
