"""Batches of the two-step scheme: dynamic lines, contacts and winches in parallel."""
