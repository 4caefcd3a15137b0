"""The command line. What is slow to import is imported by the command that needs it."""
