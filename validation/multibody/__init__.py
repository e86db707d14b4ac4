"""Mechanics against closed forms and other codes."""
