"""Periodic steady states."""
