"""What is known of each picture of an index, column by column, for filters."""

from sightline.retrieval.columns.builder import PlaceNamer, Record, build_columns
from sightline.retrieval.columns.files import load_columns, save_columns
from sightline.retrieval.columns.kinds import (
    Column,
    FlagColumn,
    LabelColumn,
    NumberColumn,
    PictureColumns,
    TextColumn,
    TimeColumn,
    Vocabulary,
)

__all__ = [
    "Column",
    "FlagColumn",
    "LabelColumn",
    "NumberColumn",
    "PictureColumns",
    "PlaceNamer",
    "Record",
    "TextColumn",
    "TimeColumn",
    "Vocabulary",
    "build_columns",
    "load_columns",
    "save_columns",
]
