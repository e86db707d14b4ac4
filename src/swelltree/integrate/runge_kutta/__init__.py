"""Runge-Kutta and implicit methods, step control, events."""
