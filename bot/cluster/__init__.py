"""What makes many processes one council: work that moves between them, and a bus they all hear.

Knows no chat and no round; what is to be done it is given.
"""
