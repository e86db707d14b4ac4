"""Forces on strokes: springs, dampers, joint forces and machines of power take-offs."""
