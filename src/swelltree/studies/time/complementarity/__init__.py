"""Runs by the two-step scheme: start, steps, channels."""
