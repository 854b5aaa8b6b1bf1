"""Test results as evidence: where they are recorded, and which tests name a requirement of the protocol."""
