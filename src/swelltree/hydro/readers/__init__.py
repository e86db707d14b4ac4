"""Files of other codes."""
