"""Bodies and their hulls."""
