"""Advice on a table: what costs time, space or clients, measured on the table, and what to do about it."""
