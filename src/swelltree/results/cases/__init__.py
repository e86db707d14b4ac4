"""Results of many cases: their dataset, what is kept of each, power and energy."""
