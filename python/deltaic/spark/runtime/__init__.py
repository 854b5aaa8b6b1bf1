"""Classes of deltaic in Spark's driver, compiled from Java text by the Spark that runs them."""
