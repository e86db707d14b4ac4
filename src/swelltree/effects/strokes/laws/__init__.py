"""Laws of machines: what force a stroke and its rate bring about."""
