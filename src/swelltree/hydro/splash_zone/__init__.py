"""Bodies that pass through the surface, by tables over depth."""
