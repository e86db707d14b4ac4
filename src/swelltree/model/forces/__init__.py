"""Loads on the bodies: one physical effect per file, all with one signature."""
