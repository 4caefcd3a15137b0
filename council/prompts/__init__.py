"""The exact prompts sent to models, versioned together.

Instructions are in the system message, everything else in the user message. Only a real fence
contains the opening of a fence.
"""

VERSION = "4"  # changes whenever any text in this package does
