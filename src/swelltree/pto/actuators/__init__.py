"""Forces along a stroke: springs, dampers, joint forces, PTOs."""
