"""Slow drift: second-order loads from mean drift and difference-frequency data."""
