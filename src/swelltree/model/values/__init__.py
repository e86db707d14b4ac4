"""Numbers of a compiled model by name and by their path in the description."""
