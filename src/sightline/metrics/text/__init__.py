"""Text against one or more references; importing this registers the metrics."""

from sightline.metrics.text.bag_of_words import DocumentFrequency, document_frequencies, jaccard, overlap, tfidf
from sightline.metrics.text.embedding import TokenEmbedder, bertscore, embedding
from sightline.metrics.text.meteor import meteor
from sightline.metrics.text.ngram_metrics import bleu, chrf, cider, corpus_bleu, corpus_chrf
from sightline.metrics.text.pairs import matched_references, random_pair_baseline, score_pairs
from sightline.metrics.text.rouge import rouge_1, rouge_l
from sightline.metrics.text.similarity import describe, text_metric
from sightline.metrics.text.tokens import bleu_tokens, rouge_tokens, word_tokens

__all__ = [
    "DocumentFrequency",
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
