"""Text metrics against plain loops and the reference implementations: python benchmarks/score_text.py [--pairs N].

Both sides see the same texts in turn, in one process on one core; read the ratios, not the seconds. `--pairs 100000`
is the whole set; the slow references are timed on a twentieth of it.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import re
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from sklearn.feature_extraction.text import TfidfVectorizer

from sightline.metrics.text.pairs import score_pairs
from sightline.metrics.text.tokens import word_tokens

WORDS_EACH = 300
BLOCK = 250
SLOW_EVERY, SLOW_BLOCK = 4, 50
TOGETHER = ("jaccard", "overlap", "tfidf")

Pair = tuple[str, str]
Score = Callable[[str, str], float]

_WORD = re.compile(r"\w+")
_SCORER = RougeScorer(["rougeL"], use_stemmer=False)


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def plain_jaccard(prediction: str, reference: str) -> float:
    a, b = set(words(prediction)), set(words(reference))
    return len(a & b) / len(a | b)


def plain_overlap(prediction: str, reference: str) -> float:
    a, b = set(words(prediction)), set(words(reference))
    return len(a & b) / min(len(a), len(b))


def plain_tfidf(prediction: str, reference: str) -> float:
    a, b = Counter(words(prediction)), Counter(words(reference))
    idf = {word: math.log(3 / (1 + (word in a) + (word in b))) + 1 for word in a | b}
    x = {word: count * idf[word] for word, count in a.items()}
    y = {word: count * idf[word] for word, count in b.items()}
    dot = sum(weight * y[word] for word, weight in x.items() if word in y)
    return dot / math.sqrt(sum(w * w for w in x.values()) * sum(w * w for w in y.values()))


def sklearn_tfidf(prediction: str, reference: str) -> float:
    vectorizer = TfidfVectorizer(tokenizer=word_tokens, token_pattern=None, lowercase=False)
    rows = vectorizer.fit_transform([prediction, reference])
    return float((rows[0] @ rows[1].T).toarray()[0, 0])


def rouge_score(prediction: str, reference: str) -> float:
    return float(_SCORER.score(reference, prediction)["rougeL"].fmeasure)


@dataclass(frozen=True, slots=True)
class Rival:
    """What a metric is timed against, and the ratio that it must reach."""

    metric: str
    name: str
    score: Score
    target: float
    slow: bool = False


RIVALS = (
    Rival("rouge-l", "rouge-score", rouge_score, 10, slow=True),
    Rival("jaccard", "plain loop", plain_jaccard, 2),
    Rival("overlap", "plain loop", plain_overlap, 2),
    Rival("tfidf", "plain loop", plain_tfidf, 2),
    Rival("tfidf", "scikit-learn, pair by pair", sklearn_tfidf, 2, slow=True),
)


def texts(pairs: int, seed: int) -> Iterator[Pair]:
    """Pairs of texts of 300 words with Zipf's frequencies; half of a prediction's words follow its reference."""
    rng = random.Random(seed)
    syllables = ["ka", "to", "ri", "mel", "son", "ber", "ly", "quan", "e", "ist", "or", "ding"]
    vocabulary = [first + second + third for first in syllables for second in syllables for third in syllables]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(vocabulary))))
    for _ in range(pairs):
        reference = rng.choices(vocabulary, cum_weights=weights, k=WORDS_EACH)
        other = rng.choices(vocabulary, cum_weights=weights, k=WORDS_EACH)
        prediction = [mine if rng.random() < 0.5 else new for mine, new in zip(reference, other, strict=True)]
        yield written(prediction), written(reference)


def written(chosen: list[str]) -> str:
    """With capitals, commas and full stops."""
    sentences = [chosen[start : start + 15] for start in range(0, len(chosen), 15)]
    return " ".join(f"{' '.join(some[:7])}, {' '.join(some[7:])}.".capitalize() for some in sentences)


def timed(spent: dict[str, list[float]], key: str, work: Callable[[], np.ndarray], count: int) -> np.ndarray:
    start = time.process_time()
    result = work()
    spent[key].append((time.process_time() - start) / count)
    return result


def ours(names: tuple[str, ...], block: list[Pair]) -> np.ndarray:
    found = score_pairs(names, (pair[0] for pair in block), ([pair[1]] for pair in block))
    return found[names[-1]]


def measure(pairs: int, seed: int) -> dict[str, list[float]]:
    """Seconds of one core for each pair, block by block, rivals in turn."""
    spent: dict[str, list[float]] = defaultdict(list)
    stream = texts(pairs, seed)
    blocks = iter(lambda: list(itertools.islice(stream, BLOCK)), [])
    for number, block in enumerate(blocks):
        for rival in RIVALS:
            if not rival.slow:
                race(rival, block, spent)
            elif number % SLOW_EVERY == 0:
                race(rival, block[:SLOW_BLOCK], spent)
        timed(spent, "together", partial(ours, TOGETHER, block), len(block))
    return spent


def race(rival: Rival, block: list[Pair], spent: dict[str, list[float]]) -> None:
    """Time both on the same texts; they must agree."""
    mine = timed(spent, f"ours {rival.metric} {rival.name}", lambda: ours((rival.metric,), block), len(block))
    theirs = timed(
        spent,
        f"theirs {rival.metric} {rival.name}",
        lambda: np.array([rival.score(*pair) for pair in block]),
        len(block),
    )
    np.testing.assert_allclose(mine, theirs, atol=1e-9)


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def stream_memory(pairs: int, seed: int) -> tuple[float, float]:
    """Peak memory after a tenth of the pairs and after all of them, streamed through four metrics."""
    peaks = []
    for count in (pairs // 10, pairs):
        first, second = itertools.tee(texts(count, seed))
        score_pairs(("rouge-l", *TOGETHER), (pair[0] for pair in first), ([pair[1]] for pair in second))
        peaks.append(peak_mib())
    return peaks[0], peaks[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    early, late = stream_memory(args.pairs, args.seed)
    spent = measure(args.pairs, args.seed)
    print(f"{args.pairs} pairs of {WORDS_EACH}-word texts, one core; µs a pair (median block)")
    print(f"{'metric':10}{'against':28}{'ours':>9}{'theirs':>10}{'ratio':>8}  target")
    plain = 0.0
    for rival in RIVALS:
        mine = float(np.median(spent[f"ours {rival.metric} {rival.name}"])) * 1e6
        theirs = float(np.median(spent[f"theirs {rival.metric} {rival.name}"])) * 1e6
        plain += theirs if not rival.slow else 0.0
        print(f"{rival.metric:10}{rival.name:28}{mine:9.1f}{theirs:10.1f}{theirs / mine:7.1f}×  {rival.target:g}×")
    mine = float(np.median(spent["together"])) * 1e6
    print(f"{'these 3':10}{'three plain loops':28}{mine:9.1f}{plain:10.1f}{plain / mine:7.1f}×  2×")
    print(f"peak memory: {early:.1f} MiB after {args.pairs // 10} pairs, {late:.1f} MiB after {args.pairs}")


if __name__ == "__main__":
    main()
