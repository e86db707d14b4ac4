"""Forces of flow past bodies and members."""
