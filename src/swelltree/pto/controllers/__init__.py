"""Control laws: what they measure and what they command."""
