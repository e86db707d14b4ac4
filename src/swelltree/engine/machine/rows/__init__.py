"""Loops over the rows of arrays: one body for all rows, rows side by side where that pays."""
