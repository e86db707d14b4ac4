"""Power take-offs and control."""
