"""Lines, rods, winches and what is done with them."""
