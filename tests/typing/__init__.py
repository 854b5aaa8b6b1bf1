"""The types that the package promises."""
