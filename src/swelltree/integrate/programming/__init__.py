"""Quadratic programs and sequences of them."""
