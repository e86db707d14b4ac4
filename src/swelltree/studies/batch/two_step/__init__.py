"""Batches of the two-step scheme: dynamic lines, contacts and winches side by side."""
