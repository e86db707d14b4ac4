"""Lines: one description, three theories; seabed, winches and networks are shared."""
