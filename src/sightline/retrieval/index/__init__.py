"""An index in a folder of the workspace: rows, words, columns, vectors; built, and brought up to date."""

from sightline.retrieval.index.build import BuiltIndex, Parts, build_index
from sightline.retrieval.index.content import Content
from sightline.retrieval.index.manifest import DEFAULT_INDEX, IndexManifest, index_names

__all__ = ["DEFAULT_INDEX", "BuiltIndex", "Content", "IndexManifest", "Parts", "build_index", "index_names"]
