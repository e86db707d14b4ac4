"""Loops over the rows of long arrays, vectorised over rows."""
