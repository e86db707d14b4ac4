"""Runs that are stepped by hand: one sample at a time, with forces and numbers of the user."""
