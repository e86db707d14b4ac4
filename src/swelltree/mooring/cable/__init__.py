"""Cables as chains of bodies."""
