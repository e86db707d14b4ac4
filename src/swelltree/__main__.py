"""`python -m swelltree` is the command `swelltree`."""

from swelltree.command import main

main()
