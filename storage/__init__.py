"""SQL stores of everything the council keeps. Knows the council's types, but no chat."""
