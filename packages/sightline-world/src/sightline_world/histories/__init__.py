"""Lives: owners with homes, friends, belongings and years of events, and the pictures that they took."""

from sightline_world.histories.corpus import corpus_of
from sightline_world.histories.reading import read_life, read_shots, read_world
from sightline_world.histories.writing import write_life, write_world

__all__ = ["corpus_of", "read_life", "read_shots", "read_world", "write_life", "write_world"]
