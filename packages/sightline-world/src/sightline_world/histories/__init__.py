"""Lives: owners with homes, friends, belongings and years of events, and the pictures that they took."""

from sightline_world.histories.corpus import corpus_of, read_history, read_shots, read_world
from sightline_world.histories.writer import write_history, write_world

__all__ = ["corpus_of", "read_history", "read_shots", "read_world", "write_history", "write_world"]
