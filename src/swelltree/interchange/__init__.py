"""Files of other programs: moorings of MoorDyn and MoorPy, read and written."""
