"""`python -m sightline` is the command line."""

from sightline.cli import main

main()
