"""How alike the words of a query and each of its pictures are, by any embedder."""

from sightline.make.similarity.stage import SimilarityStage

__all__ = ["SimilarityStage"]
