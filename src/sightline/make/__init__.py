"""Corpus → benchmark, stage by stage: each reads and writes documented files, and takes up what was begun."""

from sightline._callable import make_callable

make_callable(__name__)
