"""A generation that never stopped: 200,000 tokens against an answer of ordinary length, or another runaway."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from sightline.metrics.context import Context
from sightline.metrics.text.bag_of_words import document_frequencies
from sightline.metrics.text.pairs import score_pairs

WORDS = [f"word{i}" for i in range(5000)]


def runaway(seed: int) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choices(WORDS, weights=[1 / (i + 3) for i in range(len(WORDS))], k=200_000))


def test_every_metric_takes_a_runaway_prediction() -> None:
    short = " ".join(WORDS[:300])
    prediction = " ".join([*WORDS[:300], *["and so on"] * 66_600])
    context = Context(idf=document_frequencies([[short], ["a"]], order=4))
    names = ["rouge-1", "rouge-l", "jaccard", "overlap", "tfidf", "bleu", "chrf", "meteor", "cider"]
    found = score_pairs(names, [prediction], [[short]], context)
    assert found["overlap"][0] == 1.0
    assert found["rouge-l"][0] == pytest.approx(2 * 300 / (300 + 200_100))
    assert found["rouge-1"][0] == pytest.approx(2 * 300 / (300 + 200_100))
    assert found["jaccard"][0] == pytest.approx(300 / 303)
    assert found["cider"][0] == 0.0
    assert all(0 < found[name][0] < 0.3 for name in ("tfidf", "bleu", "chrf", "meteor"))


@pytest.mark.slow
def test_two_runaways() -> None:
    tracemalloc.start()
    found = score_pairs(["rouge-l", "chrf"], [runaway(1)], [[runaway(2)]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
    assert 0.1 < found["rouge-l"][0] < 0.9
