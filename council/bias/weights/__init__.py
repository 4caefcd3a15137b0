"""Judges that do not all weigh alike: by name, beside the uniform count and never inside it."""
