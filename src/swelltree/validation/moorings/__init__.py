"""Lines, cables and winches."""
