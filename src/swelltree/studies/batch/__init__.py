"""Many cases of one model at once."""
