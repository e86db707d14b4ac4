"""Case files.

`case` reads and writes them, `studies` and `limits` are what they ask for, `toml` the text.
"""
