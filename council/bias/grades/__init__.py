"""Self-preference by grades: the statistics of the thesis, and the difference in differences."""
