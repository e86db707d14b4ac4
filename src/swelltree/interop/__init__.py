"""Files of other programs: MoorDyn, MoorPy, WEC-Sim."""
