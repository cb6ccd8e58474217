"""How a history is mined: whose, by whom, and how strictly."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwnerRules:
    """Whose histories are worth mining; whole events are taken in order of time up to `cap` pictures."""

    pictures: int = 50
    coverage: float = 0.5
    "The least share of pictures that tell when and where they were taken."
    events: int = 5
    days: int = 30
    "From the first picture to the last."
    cap: int = 2_000


GENTLE = OwnerRules()
DISBENCH = OwnerRules(pictures=2_000, coverage=0.9, events=50, days=366, cap=2_000)
PRESETS = {"gentle": GENTLE, "disbench": DISBENCH}


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that changes what is mined; `writer` None means templates."""

    model: str
    embedder: str | None = None
    writer: str | None = None
    owners: tuple[str, ...] = ()
    rules: OwnerRules = GENTLE
    queries: int = 50
    "How many requests are kept at most."
    seed: int = 0
    clues: int = 4
    "Clues of a picture that are followed to other pictures, the rarest first."
    near: int = 5
    "Pictures that a clue is compared with inside the event, and as many outside."
    edges: int = 40
    "Edges of a sampled subgraph."
    sure: float = 0.5
    "Clues of less confidence are in doubt, and no kept request depends on one."
    most_targets: int = 20
    confirm: bool = True
    "Show the model every photo of the events that a kept request means, once more and for its target alone."
    retrieval_bound: float = 0.8
    metadata_bound: float = 0.9
