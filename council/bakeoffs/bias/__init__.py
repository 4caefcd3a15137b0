"""Statistics of judges' bias."""
