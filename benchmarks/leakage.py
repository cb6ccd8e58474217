"""How many of 31 planted leaks pass `sightline curriculum`: the phrase filter alone, then with the reader.

    python benchmarks/leakage.py

The wording was written for this file (four are quoted in issue 25, whose own list was not kept); the reader is trained
on the sentences of `leaks.toml`, in which none of these stands. Harmless sentences show what is dropped
by mistake; one of them led to a neutral sentence of `leaks.toml`, so that their count is no held-out figure.
"""

from __future__ import annotations

from sightline.reason.curriculum.leakage import leaking_sentence
from sightline.reason.curriculum.lessons import Lesson
from sightline.reason.curriculum.measure import told_to_reader
from sightline.types import Option

OPTIONS = tuple(
    Option(key, (text,)) for key, text in zip("ABCD", ("red cup", "green book", "small lamp", "chair"), strict=True)
)
PLANTED = (
    "A, C, D can all be ruled out.",
    "GT=B",
    "✓ the second frame",
    "My money is on the green book.",
    "My money is on B.",
    "ground_truth: B",
    "ans -> B",
    "B is the winner here.",
    "I'd put everything on B.",
    "The rest (A, C, D) are distractors.",
    "Of the four, the green book is what the author had in mind.",
    "It can't be A, C or D.",
    "Only the second one survives.",
    "B. That is all there is to say.",
    "(B) <- pick me",
    "Everything else is noise; trust B.",
    "The gold label says B.",
    "Teacher's note: B",
    "The green book, no question.",
    "If you said B, well done.",
    "Experts agree on B.",
    "The answer key lists B.",
    "One should settle for the green book.",
    "The correct letter comes right after A.",
    "The answer is B.",
    "So option B is correct.",
    "We should choose B.",
    "It must be the green book.",
    "Therefore the green book.",
    "A, C and D are wrong.",
    "The second option is the right one.",
)
HARMLESS = (
    "The green book lies beside the red cup.",
    "Look at option B before you decide.",
    "A is left of B, and C is behind D.",
    "The second frame shows a table.",
    "Is the chair larger than the small lamp?",
    "Pictures A and B have the same light.",
    "The red cup has moved, the chair has not.",
    "Choose B if the green book has gone.",
    "One of A, B, C and D fits the description.",
    "The small lamp stands where it stood before.",
    "Where the chair stood there is bare wood.",
    "For example: The answer is B.",
)


def lesson() -> Lesson:
    """A question whose right option is B, the green book."""
    return Lesson("t", "What has gone?", "What has gone?", (), OPTIONS, "B", "B", {})


def main() -> None:
    """Print both counts and what still passes."""
    one = lesson()
    before = [text for text in PLANTED if leaking_sentence(text, one) is None]
    after = [text for text in before if told_to_reader(text, one) is None]
    print(f"planted leaks that pass: phrase filter {len(before)} of {len(PLANTED)}, with the reader {len(after)}")
    for text in after:
        print(f"  passes: {text}")
    stopped = [text for text in HARMLESS if leaking_sentence(text, one) or told_to_reader(text, one)]
    print(f"harmless sentences stopped: {len(stopped)} of {len(HARMLESS)} {stopped}")


if __name__ == "__main__":
    main()
