"""Studies of the linearised model."""
