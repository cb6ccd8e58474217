"""Embedders: pictures and texts into one space, found by name, with their vectors kept in the workspace."""

from sightline.models.embedders.base import EmbeddingAttempt, attempt_pictures, attempt_texts
from sightline.models.embedders.registry import embedder_names, find_embedder
from sightline.models.embedders.vector_cache import CachedVectors, VectorCache, text_key
from sightline.models.embedders.vector_file import VectorFile, read_vectors

__all__ = [
    "CachedVectors",
    "EmbeddingAttempt",
    "VectorCache",
    "VectorFile",
    "attempt_pictures",
    "attempt_texts",
    "embedder_names",
    "find_embedder",
    "read_vectors",
    "text_key",
]
