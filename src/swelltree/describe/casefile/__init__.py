"""Case files: what they say, how they are read and written."""
