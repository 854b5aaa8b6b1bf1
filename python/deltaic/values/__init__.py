"""Arguments and values of the API: validation, conversion and display."""
