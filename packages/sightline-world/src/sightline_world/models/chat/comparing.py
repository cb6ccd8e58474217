"""Questions about several pictures at once: which of them, all of them, what differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sightline.english import listed
from sightline_world.models.chat.answers import CANNOT, YES_NO, Answer, named, narrowed
from sightline_world.models.chat.checking import check_all, items_of
from sightline_world.models.chat.describing import caption
from sightline_world.models.chat.grammar import understand
from sightline_world.models.chat.seeing import Seen


def compare(words: str, question: str, seen: Sequence[Seen]) -> Answer | None:
    """The answer, if the question is one about several pictures."""
    if re.search(r"\bwhich (?:picture|photo|image|one|of (?:the|these))", words) or re.search(r"\bin which\b", words):
        return _which_picture(words, question, seen)
    if re.search(r"\bsame\b|\bboth\b|\ball (?:of )?(?:the )?(?:pictures|photos|images)\b|\beach\b", words):
        return _alike(words, question, seen)
    if re.search(r"\bdiffer|\bchanged?\b|\bcompare\b", words):
        return _difference(seen)
    if YES_NO.search(words):
        return _any(question, seen)
    return None


def _which_picture(words: str, question: str, seen: Sequence[Seen]) -> Answer:
    """The picture with the most of something, or the one that the question's claims fit best."""
    meant = understand(question)
    most = re.search(r"\b(most|more|largest number|fewest|fewer|least)\b", words)
    if most is not None and meant.wanted:
        counts = [len(narrowed(meant.wanted[0], meant, each)) for each in seen]
        wanted = min(counts) if most[1] in ("fewest", "fewer", "least") else max(counts)
        why = "; ".join(f"{each.label}: {count}" for each, count in zip(seen, counts, strict=True))
        return Answer(seen[counts.index(wanted)].label, 0.6, f"Counted: {why}.")
    judged = [check_all(meant, each.reading) for each in seen]
    order = sorted(range(len(seen)), key=lambda at: (-judged[at].holds, -judged[at].share, at))
    why = " ".join(f"{each.label}: {found.reason}" for each, found in zip(seen, judged, strict=True))
    return Answer(seen[order[0]].label, judged[order[0]].sure, why, known=bool(meant.claims))


def _alike(words: str, question: str, seen: Sequence[Seen]) -> Answer:
    graphs = [each.reading.graph for each in seen]
    for cue, value in (
        ("place", "place"),
        ("location", "place"),
        ("weather", "light"),
        ("light", "light"),
        ("time", "light"),
    ):
        if re.search(rf"\b{cue}\b", words) and "same" in words:
            values = [getattr(graph, value) for graph in graphs]
            return Answer("yes" if len(set(values)) == 1 else "no", 0.7, f"I see {listed(values)}.")
    judged = [check_all(understand(question), each.reading) for each in seen]
    holds = all(found.holds for found in judged)
    return Answer("yes" if holds else "no", min(found.sure for found in judged), " ".join(f.reason for f in judged))


def _any(question: str, seen: Sequence[Seen]) -> Answer:
    judged = [check_all(understand(question), each.reading) for each in seen]
    if not any(found.verdicts for found in judged):
        return Answer(CANNOT, 0.1, judged[0].reason, known=False)
    best = max(judged, key=lambda found: (found.holds, found.sure))
    return Answer("yes" if best.holds else "no", best.sure, best.reason)


def _difference(seen: Sequence[Seen]) -> Answer:
    first, second = (Counter(map(named, items_of(each.reading.graph))) for each in seen[:2])
    said = []
    for name, value in (("place", "place"), ("light", "light")):
        values = [getattr(each.reading.graph, value) for each in seen[:2]]
        if values[0] != values[1]:
            said.append(f"the {name} is {values[0]} in one and {values[1]} in the other")
    said += [
        f"only {one.label} shows {thing}"
        for one, mine, other in ((seen[0], first, second), (seen[1], second, first))
        for thing in (mine - other)
    ]
    text = "; ".join(said) or "I see no difference"
    return Answer(
        text[:1].upper() + text[1:],
        0.5,
        f"{seen[0].label}: {caption(seen[0].reading.graph)} {seen[1].label}: {caption(seen[1].reading.graph)}",
    )
