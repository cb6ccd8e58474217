"""Text against one or more references; importing this registers the metrics."""

from sightline.score.text.baseline import matched_references, random_pair_baseline
from sightline.score.text.bertscore import TokenEmbedder, bertscore
from sightline.score.text.bleu import bleu, corpus_bleu
from sightline.score.text.bulk import score_pairs
from sightline.score.text.chrf import chrf, corpus_chrf
from sightline.score.text.cider import cider
from sightline.score.text.embedding import embedding
from sightline.score.text.idf import DocumentFrequency, document_frequencies
from sightline.score.text.jaccard import jaccard
from sightline.score.text.meteor import meteor
from sightline.score.text.overlap import overlap
from sightline.score.text.rouge_1 import rouge_1
from sightline.score.text.rouge_l import rouge_l
from sightline.score.text.similarity import TextMetric, describe, text_metric
from sightline.score.text.tfidf import tfidf
from sightline.score.text.tokens import bleu_tokens, rouge_tokens, word_tokens

__all__ = [
    "DocumentFrequency",
    "TextMetric",
    "TokenEmbedder",
    "bertscore",
    "bleu",
    "bleu_tokens",
    "chrf",
    "cider",
    "corpus_bleu",
    "corpus_chrf",
    "describe",
    "document_frequencies",
    "embedding",
    "jaccard",
    "matched_references",
    "meteor",
    "overlap",
    "random_pair_baseline",
    "rouge_1",
    "rouge_l",
    "rouge_tokens",
    "score_pairs",
    "text_metric",
    "tfidf",
    "word_tokens",
]
