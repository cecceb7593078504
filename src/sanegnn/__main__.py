"""`python -m sanegnn` is `sanegnn`."""

from sanegnn.cli import main

main()
