"""Other forces: gravity, applied loads, bushings, wind, custom forces."""
