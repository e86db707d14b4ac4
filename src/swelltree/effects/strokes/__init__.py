"""Forces on strokes: springs, dampers, joint forces and PTOs."""
