"""Optimal and predictive control, control laws, observers."""
