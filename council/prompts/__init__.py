"""The exact texts sent to models, versioned together.

Instructions go in the system message, everything else in the user message. Nothing but a real
fence ever writes the opening of one.
"""

VERSION = "2"  # changes whenever any text in this package does
