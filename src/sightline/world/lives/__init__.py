"""Lives: owners with homes, friends, belongings and years of events, and the pictures that they took."""

from sightline.world.lives.corpus import corpus_of
from sightline.world.lives.reading import read_life, read_shots, read_world
from sightline.world.lives.writing import write_life, write_world

__all__ = ["corpus_of", "read_life", "read_shots", "read_world", "write_life", "write_world"]
