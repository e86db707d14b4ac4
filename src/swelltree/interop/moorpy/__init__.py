"""MoorPy files, read."""
