"""Loops over the rows of arrays: one body for all rows, vectorised over rows where that pays."""
