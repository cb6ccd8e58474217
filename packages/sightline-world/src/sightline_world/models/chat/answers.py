"""Short answers to questions: the question in a request, the answer's form, and comparisons of several pictures.

Sentences of a request that say only in what form to answer are no part of what is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sightline.english import listed
from sightline_world.models.chat.claims import Exists, Meant, Related, Wanted
from sightline_world.models.chat.descriptions import caption
from sightline_world.models.chat.images import SeenImage
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.verification import Item, check_all, colour_of, describe, items_of, kind_of, matching
from sightline_world.scene import Thing
from sightline_world.vocabulary import phrase

_BETWEEN = re.compile(r"((?<=[.!?])\s+|(?<=[。！？])|\n+)")
_SIZE = r"(?:only|just|at most|no more than|a|an|one|two|three|the|your|single|short|few|brief|final|full|and|or|,|\s)*"
_FORM = re.compile(
    r"\W*(?:(?:please|then|and|now|finally)\b,?\s*)*(?:"
    r"end (?:by|with|your)\b.*"
    r"|(?:the|your) (?:final|last) (?:answer|line)\b.*"
    r"|(?:final )?(?:answer|reply|response)\s*:.{0,12}"
    rf"|(?:answer|reply|respond)(?: the question| to the question)?,?\s+(?:(?:with|in|using|by|as){_SIZE}"
    r"(?:words?|phrases?|sentences?|lines?|numbers?|letters?|names?|answer|json|english)\b.{0,30}"
    r"|(?:very )?(?:briefly|shortly|concisely|in short)\W*)"
    r"|(?:give|write|state|provide|return|output|put)\s+(?:me\s+)?(?:only|just)?\s*(?:the|your|a)\s+"
    r"(?:final |short |brief )*answer\b.*"
    r"|(?:keep|make)\s+(?:the answer|your answer|the reply|your reply|it)\s+(?:as\s+)?(?:short|brief|concise)\b.*"
    r"|(?:be|stay) (?:brief|concise|short)\W*"
    r"|(?:let us|let's)?\s*think step by step\W*"
    r"|x is the key of (?:one|an) option\W*"
    r"|请以下面这一行结束.*|最后调用.*|答案要简短.*|x 为一个选项的字母.*"
    r")",
    re.IGNORECASE,
)
_DECIDES = re.compile(r"\b(?:yes|no|true|false)\b|\?", re.IGNORECASE)
_AT_LENGTH = re.compile(r"\b(?:describ|caption|summar|title)", re.IGNORECASE)
CANNOT = "I can't tell: I only know the places, lights, things, people and signs of the built-in world."
_SENTENCE = re.compile(r"[^.?!\n]*\?")
_TAG = re.compile(r"(?:is (?:this|that|it) )?(?:true or false|yes or no|true|correct|right)\s*\?", re.IGNORECASE)
YES_NO = re.compile(
    r"^(?:and |so |now |then )?(?:is|are|was|were|does|do|did|can|could|has|have|will|would)\b"
    r"|\byes or no\b|\btrue or false\b"
)


def without_form(text: str) -> str:
    """The text without its instructions about form; all of it where nothing else is left, or where length matters."""
    kept = "".join(part for part in _BETWEEN.split(text) if not _is_form(part)).strip()
    return text if not kept or _AT_LENGTH.search(kept) else kept


def _is_form(part: str) -> bool:
    said = part.strip()
    return bool(said) and _DECIDES.search(said) is None and _FORM.fullmatch(said) is not None


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """A short answer, how sure it is, and what led to it; `known` is false where the question is beyond the model."""

    text: str
    sure: float
    why: str
    known: bool = True


def the_question(text: str) -> str:
    """The sentence that asks: the last one with a question mark, else the last paragraph that is about content."""
    text = without_form(text)
    asked = [found[0].strip() for found in _SENTENCE.finditer(text) if found[0].strip(" ?")]
    if asked and _TAG.fullmatch(asked[-1]):
        return " ".join(text.split())
    if asked:
        return asked[-1]
    paragraphs = [part.strip() for part in text.strip().split("\n\n") if part.strip()]
    return paragraphs[-1] if paragraphs else ""


def full_question(text: str) -> str:
    """The question, with the sentence before it where only that names a thing: `Look at the cups. How many?`."""
    text = without_form(text)
    question = the_question(text)
    before = text[: text.find(question)].strip() if question in text else ""
    sentences = [part.strip() for part in re.split(r"(?<=[.!:])\s+|\n", before) if part.strip()]
    if understand(question).wanted or not sentences or not understand(sentences[-1]).wanted:
        return question
    return f"{sentences[-1]} {question}"


def narrowed(wanted: Wanted, meant: Meant, seen: SeenImage) -> list[Item]:
    """What fits the description and all relations that the text gives it."""
    graph = seen.reading.graph
    region = next((c.region for c in meant.claims if isinstance(c, Exists) and c.wanted == wanted), "")
    found = matching(wanted, graph, region)
    for claim in meant.claims:
        if not isinstance(claim, Related) or wanted not in (claim.subject, claim.object):
            continue
        others = {item.id for item in matching(claim.object if wanted == claim.subject else claim.subject, graph)}
        pairs = [
            (r.subject, r.object) if wanted == claim.subject else (r.object, r.subject)
            for r in graph.relations
            if r.predicate == claim.predicate
        ]
        related = {mine for mine, other in pairs if other in others}
        found = [item for item in found if item.id in related]
    return found


def named(item: Item) -> str:
    """A thing by kind and colour, a person by looks, a sign by its words."""
    return phrase(kind_of(item), colour_of(item) or None) if isinstance(item, Thing) else describe(item)


def compare(words: str, question: str, seen: Sequence[SeenImage]) -> ShortAnswer | None:
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


def _which_picture(words: str, question: str, seen: Sequence[SeenImage]) -> ShortAnswer:
    """The picture with the most of something, or the one that the question's claims fit best."""
    meant = understand(question)
    most = re.search(r"\b(most|more|largest number|fewest|fewer|least)\b", words)
    if most is not None and meant.wanted:
        counts = [len(narrowed(meant.wanted[0], meant, each)) for each in seen]
        wanted = min(counts) if most[1] in ("fewest", "fewer", "least") else max(counts)
        why = "; ".join(f"{each.label}: {count}" for each, count in zip(seen, counts, strict=True))
        return ShortAnswer(seen[counts.index(wanted)].label, 0.6, f"Counted: {why}.")
    judged = [check_all(meant, each.reading) for each in seen]
    order = sorted(range(len(seen)), key=lambda at: (-judged[at].holds, -judged[at].share, at))
    why = " ".join(f"{each.label}: {found.reason}" for each, found in zip(seen, judged, strict=True))
    return ShortAnswer(seen[order[0]].label, judged[order[0]].sure, why, known=bool(meant.claims))


def _alike(words: str, question: str, seen: Sequence[SeenImage]) -> ShortAnswer:
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
            return ShortAnswer("yes" if len(set(values)) == 1 else "no", 0.7, f"I see {listed(values)}.")
    judged = [check_all(understand(question), each.reading) for each in seen]
    holds = all(found.holds for found in judged)
    return ShortAnswer(
        "yes" if holds else "no", min(found.sure for found in judged), " ".join(f.reason for f in judged)
    )


def _any(question: str, seen: Sequence[SeenImage]) -> ShortAnswer:
    judged = [check_all(understand(question), each.reading) for each in seen]
    if not any(found.verdicts for found in judged):
        return ShortAnswer(CANNOT, 0.1, judged[0].reason, known=False)
    best = max(judged, key=lambda found: (found.holds, found.sure))
    return ShortAnswer("yes" if best.holds else "no", best.sure, best.reason)


def _difference(seen: Sequence[SeenImage]) -> ShortAnswer:
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
    return ShortAnswer(
        text[:1].upper() + text[1:],
        0.5,
        f"{seen[0].label}: {caption(seen[0].reading.graph)} {seen[1].label}: {caption(seen[1].reading.graph)}",
    )
