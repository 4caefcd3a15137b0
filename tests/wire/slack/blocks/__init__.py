"""The shapes of Block Kit, as data: one check for each block, element and object."""
