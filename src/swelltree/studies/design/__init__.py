"""Derivatives of runs, and design with them."""
