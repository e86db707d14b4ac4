"""Incident waves by one interface: a potential and an elevation, derivatives by autodiff."""
