"""Bias of judges, measured."""
