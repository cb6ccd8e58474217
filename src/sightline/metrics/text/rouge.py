"""ROUGE-1 (words in common) and ROUGE-L (longest common subsequence, bit-parallel in Python's big integers)."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.metrics.context import Context
from sightline.metrics.text.document import TextDocument
from sightline.metrics.text.similarity import f1, similarity

# Bits in one integer: a table of masks never exceeds block × block / 16 bytes, however long the texts are.
_BLOCK = 8_192
_CHOICES = {"tokens": ("rouge", "words")}


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence: O(len(a) · len(b) / word size) time, flat memory.

    Hyyrö's recurrence: bit i of the state is 0 where the i-th token of the shorter text ends a longer match.
    """
    if a == b:
        return len(a)
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    return _whole(short, long) if len(short) <= _BLOCK else _blockwise(short, long)


def _masks(tokens: Sequence[str]) -> dict[str, int]:
    """For each token, the integer whose bits are its positions."""
    masks: dict[str, int] = {}
    bit = 1
    for token in tokens:
        masks[token] = masks.get(token, 0) | bit
        bit <<= 1
    return masks


def _whole(short: Sequence[str], long: Sequence[str]) -> int:
    mask_of = _masks(short).get
    state = full = (1 << len(short)) - 1
    for token in long:
        mask = mask_of(token)
        if mask is not None:
            ends = state & mask
            # Carries past the top bit are left to pile up there: there are at most as many as matches.
            state = (state + ends) | (state - ends)
    return len(short) - (state & full).bit_count()


def _blockwise(short: Sequence[str], long: Sequence[str]) -> int:
    common = set(short) & set(long)
    short = [token for token in short if token in common]
    long = [token for token in long if token in common]
    carries = bytearray(len(long))
    return sum(_block(short[start : start + _BLOCK], long, carries) for start in range(0, len(short), _BLOCK))


def _block(short: Sequence[str], long: Sequence[str], carries: bytearray) -> int:
    """One block's share of the length; `carries` holds what each addition hands on to the next block."""
    mask_of = _masks(short).get
    width = len(short)
    state = full = (1 << width) - 1
    for row, token in enumerate(long):
        mask = mask_of(token, 0)
        if mask or carries[row]:
            ends = state & mask
            total = state + ends + carries[row]
            carries[row] = total >> width
            state = (total & full) | (state - ends)
    return width - state.bit_count()


@similarity("rouge-1", choices=_CHOICES)
def rouge_1(
    prediction: TextDocument, references: Sequence[TextDocument], context: Context, tokens: str = "rouge"
) -> list[float]:
    """F1 of m = Σ_w min(count in prediction, count in reference): P = m/|prediction|, R = m/|reference|.

    Equals rouge-score's rouge1 without stemming. No tokens on either side, or on both: 0.
    """
    return [_shared_words(prediction, reference, tokens) for reference in references]


def _shared_words(prediction: TextDocument, reference: TextDocument, tokens: str) -> float:
    if tokens == "words":
        a, b = prediction.counts, reference.counts
    else:
        a, b = prediction.rouge_counts, reference.rouge_counts
    common = a.keys() & b.keys()
    matches = sum(map(min, map(a.__getitem__, common), map(b.__getitem__, common)))
    return _f1(matches, a.total(), b.total())


@similarity("rouge-l", choices=_CHOICES)
def rouge_l(
    prediction: TextDocument, references: Sequence[TextDocument], context: Context, tokens: str = "rouge"
) -> list[float]:
    """F1 of m = length of the longest common subsequence: P = m/|prediction|, R = m/|reference|.

    Equals rouge-score's rougeL without stemming. No tokens on either side, or on both: 0.
    """
    part = "words" if tokens == "words" else "rouge"
    texts = [getattr(document, part) for document in (prediction, *references)]
    return [_f1(lcs_length(texts[0], other), len(texts[0]), len(other)) for other in texts[1:]]


def _f1(matches: int, predicted: int, wanted: int) -> float:
    return f1(matches / predicted, matches / wanted) if predicted and wanted else 0.0
