"""The command line: one thin module per verb."""

from sightline.cli.app import main

__all__ = ["main"]
