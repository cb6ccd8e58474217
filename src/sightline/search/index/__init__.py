"""An index in a folder of the workspace: rows, words, columns, vectors; built, and brought up to date."""

from sightline.search.index.build import Built, Parts, build_index
from sightline.search.index.content import Content
from sightline.search.index.manifest import DEFAULT, Manifest, index_names

__all__ = ["DEFAULT", "Built", "Content", "Manifest", "Parts", "build_index", "index_names"]
