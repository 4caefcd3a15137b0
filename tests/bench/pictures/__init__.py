"""The pictures in the documents: the product's own page, messages and boards; answers scripted."""
