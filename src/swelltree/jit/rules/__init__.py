"""Lowering rules of JAX primitives, by kind."""
