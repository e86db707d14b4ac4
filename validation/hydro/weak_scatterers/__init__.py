"""Weak scatterers against closed forms, boundary elements in the frequency domain, invariants."""
