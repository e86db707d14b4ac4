"""Small data that come with the package, and the modules that make them again."""
