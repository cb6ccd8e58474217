"""Embedders for the text metrics' tests: deterministic, no model, no download."""

from __future__ import annotations

import pytest

from metrics.text.text_embedders import HashEmbedder, SentenceOnly


@pytest.fixture(scope="session")
def hash_embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture(scope="session")
def sentence_embedder() -> SentenceOnly:
    return SentenceOnly()
