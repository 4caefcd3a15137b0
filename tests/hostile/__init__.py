"""Attacks from outside on the product as a process: `make hostile` runs them and prints a table."""
