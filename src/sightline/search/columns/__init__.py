"""What is known of each picture of an index, column by column, for filters."""

from sightline.search.columns.build import PlaceNamer, Record, build_columns
from sightline.search.columns.files import load_columns, save_columns
from sightline.search.columns.kinds import Column, Columns, Flags, Labels, Numbers, Texts, Times, Vocabulary

__all__ = [
    "Column",
    "Columns",
    "Flags",
    "Labels",
    "Numbers",
    "PlaceNamer",
    "Record",
    "Texts",
    "Times",
    "Vocabulary",
    "build_columns",
    "load_columns",
    "save_columns",
]
