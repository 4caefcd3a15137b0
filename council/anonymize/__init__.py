"""Anonymization: hide which model wrote an answer."""
