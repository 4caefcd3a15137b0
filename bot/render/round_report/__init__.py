"""Renderers of a closed round, a module for each subject; `thread` puts them together."""
