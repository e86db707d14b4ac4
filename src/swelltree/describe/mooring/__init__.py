"""Lines and their types, rods, seabed, winches and operations."""
