"""Two-step, position-level time stepping for whole systems."""
