"""Runs in time."""
