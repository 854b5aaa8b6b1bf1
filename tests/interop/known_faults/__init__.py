"""What delta-spark 4.4 does wrong or otherwise than the model: a table, and how generated tests avoid it."""
