"""Judges whose biases are known, to see what a panel can tell and what it cannot.

Votes are drawn on the product's own slates and counted by its own tally; knows no model.
"""
