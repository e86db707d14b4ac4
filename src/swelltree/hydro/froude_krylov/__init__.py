"""Pressure of the undisturbed sea on the wetted hull."""
