"""Boundary-element runs."""
