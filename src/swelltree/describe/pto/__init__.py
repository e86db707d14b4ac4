"""Power take-offs."""
