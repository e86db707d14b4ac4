"""Arrays of two libraries, JAX set up, and traced functions as programs of other kinds."""
