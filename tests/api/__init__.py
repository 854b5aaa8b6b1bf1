"""The Python surface, a module for each verb or property."""
