"""MoorDyn input files, read and written."""
