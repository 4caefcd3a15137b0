"""Pages about bake-offs."""
