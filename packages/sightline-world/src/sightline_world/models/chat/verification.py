"""Claims against a reading: which hold, how nearly the others do, and how sure that is.

From that come the relevance of a picture to a query, as a grade with its reason, and a verdict for each numbered claim
of a request: supported, contradicted or unclear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Literal, TypeAlias

from sightline.english import article, listed, number_word
from sightline.metrics.text.regions import regions_in, without_boxes
from sightline.types import Box
from sightline_world.models.chat.claims import (
    At,
    Claim,
    Either,
    Exists,
    Lit,
    Meant,
    Related,
    Wanted,
    say,
    say_light,
    say_name,
    say_where,
)
from sightline_world.models.chat.lexicon import PERSON, SIGN
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.schemas import plain_schema, type_of
from sightline_world.models.scene_reader import Reading
from sightline_world.scene import Figure, SceneGraph, Sign, Thing

Item: TypeAlias = Thing | Figure | Sign
ALIKE = 0.78
"""Words on a sign that are so nearly those asked for are taken for them: letters are misread now and then."""
HIDDEN = 0.6
"""What is hidden by more than this may be counted or not: both are right."""
_UNSEEN_SURE = 0.75
"""How sure it is that something is not there, only because it was not seen."""
_TAGGED = re.compile(r"<query>\s*(.+?)\s*</query>", re.IGNORECASE | re.DOTALL)
_JSON = re.compile(r'"(?:query|query_text|search_query)"\s*:\s*"((?:[^"\\]|\\.)+)"', re.IGNORECASE)
_NAMED = re.compile(
    r"^[ \t>*#-]*\**(?:search |the |user |text )*query(?: text)?\**\s*(?:is\s*)?[:=]\s*\**\s*(.+?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(r"\bquery\b[^\"“\n]{0,40}[\"“]([^\"”\n]+)[\"”]", re.IGNORECASE)
_NEARLY = 0.74
_PARTLY = 0.5
_WORDS: Mapping[Found, tuple[str, ...]] = {
    "supported": ("supported", "true", "yes", "correct", "entailed", "confirmed"),
    "contradicted": ("contradicted", "false", "no", "incorrect", "refuted", "wrong"),
    "unclear": ("unclear", "unknown", "unsure", "neutral", "not enough information", "cannot tell"),
}
_NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[.):][ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_MOST_UNKNOWN = 2
"""With more words than these that nobody here understands, who can say that a claim holds?"""
_SURE = 0.35
_EDGE = 0.05


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds, the share of it that does (0 to 1), how sure that is, and the reason in words."""

    claim: Claim
    holds: bool
    share: float
    sure: float
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    """All claims of a text against one picture."""

    verdicts: tuple[Verdict, ...]
    unknown: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Everything that was understood holds, and something was."""
        return bool(self.verdicts) and all(verdict.holds for verdict in self.verdicts)

    @property
    def share(self) -> float:
        """The mean share; 0 where nothing was understood."""
        return sum(v.share for v in self.verdicts) / len(self.verdicts) if self.verdicts else 0.0

    @property
    def sure(self) -> float:
        """As sure as the weakest reason for the outcome; words that mean nothing here make it less."""
        if not self.verdicts:
            return 0.1
        failing = [v.sure for v in self.verdicts if not v.holds]
        sure = max(failing) if failing else min(v.sure for v in self.verdicts)
        return round(sure * 0.8 ** min(3, len(self.unknown)), 3)

    @property
    def reason(self) -> str:
        """Which claims hold and which fail."""
        if not self.verdicts:
            return "Nothing in the query names something that I know how to see."
        holding = [v.reason for v in self.verdicts if v.holds]
        failing = [v.reason for v in self.verdicts if not v.holds]
        said = []
        if holding:
            said.append(f"Holds: {'; '.join(holding)}.")
        if failing:
            said.append(f"Fails: {'; '.join(failing)}.")
        if self.unknown:
            said.append(f"Not understood: {', '.join(self.unknown[:6])}.")
        return " ".join(said)


def check_all(meant: Meant, reading: Reading) -> Judged:
    """Every claim of a text against a picture."""
    return Judged(tuple(check(claim, reading) for claim in meant.claims), meant.unknown)


def check(claim: Claim, reading: Reading) -> Verdict:
    """One claim against a picture."""
    graph = reading.graph
    match claim:
        case At(places, negated):
            holds = (graph.place in places) != negated
            return Verdict(claim, holds, float(holds), reading.place, f"it is {say_where(graph.place)}")
        case Lit(lights, negated):
            holds = (graph.light in lights) != negated
            return Verdict(
                claim, holds, float(holds), reading.light, f"it is {say_light(graph.light) or 'in some light'}"
            )
        case Exists():
            return _check_exists(claim, reading)
        case Related():
            return _check_related(claim, reading)
        case Either(options):
            best = max((check(option, reading) for option in options), key=lambda v: (v.holds, v.share, v.sure))
            return Verdict(claim, best.holds, best.share, best.sure, best.reason)


def _check_exists(claim: Exists, reading: Reading) -> Verdict:
    found = matching(claim.wanted, reading.graph, claim.region)
    clear = sum(item.hidden <= HIDDEN for item in found)
    holds = claim.low <= len(found) and clear <= claim.high
    sure = _sure(found, reading)
    seen = "no" if not found else number_word(len(found))
    reason = f"{seen} {say_name(claim.wanted, len(found) or 1)} seen"
    if holds:
        return Verdict(claim, True, 1.0, sure, reason)
    if claim.high == 0:
        return Verdict(claim, False, 0.0, sure, reason)
    if found:
        return Verdict(claim, False, 0.6, sure, reason)
    near, share = _nearest(claim.wanted, reading.graph)
    return Verdict(claim, False, share, sure, f"{reason}, but {describe(near)}" if near is not None else reason)


def _check_related(claim: Related, reading: Reading) -> Verdict:
    graph = reading.graph
    subjects = {item.id: item for item in matching(claim.subject, graph)}
    things = {item.id: item for item in matching(claim.object, graph)}
    holding = [
        (relation.subject, relation.object)
        for relation in graph.relations
        if relation.predicate == claim.predicate and relation.subject in subjects and relation.object in things
    ]
    holds = bool(holding) != claim.negated
    items = [subjects[holding[0][0]], things[holding[0][1]]] if holding else [*subjects.values(), *things.values()]
    sure = _sure(items, reading) * 0.9
    share = 1.0 if holds else 0.5 * (bool(subjects) + bool(things)) / 2
    words = say(Related(claim.subject, claim.predicate, claim.object))
    return Verdict(claim, holds, share, sure, words if holding else f"not seen: {words}")


def matching(wanted: Wanted, graph: SceneGraph, region: str = "") -> list[Item]:
    """What in the scene fits the description, from the left to the right."""
    found = [item for item in items_of(graph) if fits(wanted, item) and (not region or in_region(item.box, region))]
    return sorted(found, key=lambda item: (item.box.left, item.box.top, item.id))


def items_of(graph: SceneGraph) -> Iterable[Item]:
    """All things, people and signs of a scene."""
    return (*graph.things, *graph.figures, *graph.signs)


def fits(wanted: Wanted, item: Item) -> bool:
    """Does all that was named of it hold?"""
    return kind_of(item) in wanted.kinds and all(_traits(wanted, item))


def kind_of(item: Item) -> str:
    if isinstance(item, Thing):
        return item.kind
    return PERSON if isinstance(item, Figure) else SIGN


def colour_of(item: Item) -> str:
    """The colour of a thing or of a coat; nothing for a sign."""
    if isinstance(item, Thing):
        return item.colour
    return item.coat if isinstance(item, Figure) else ""


def _traits(wanted: Wanted, item: Item) -> list[bool]:
    """One truth for each attribute that was named."""
    colour = colour_of(item)
    traits = []
    if wanted.colours:
        traits.append(colour in wanted.colours)
    if wanted.other_than:
        traits.append(colour not in wanted.other_than)
    if wanted.sizes and isinstance(item, Thing):
        traits.append(item.size in wanted.sizes)
    if wanted.hair:
        traits.append(isinstance(item, Figure) and item.hair in wanted.hair)
    if wanted.headgear:
        traits.append(isinstance(item, Figure) and item.headgear in wanted.headgear)
    if wanted.headgear_colours:
        traits.append(isinstance(item, Figure) and item.headgear_colour in wanted.headgear_colours)
    if wanted.words:
        traits.append(isinstance(item, Sign) and says(item.words, wanted.words))
    return traits


def says(written: str, wanted: str) -> bool:
    """Are the words on the sign, give or take a misread letter?"""
    here, there = " ".join(written.lower().split()), " ".join(wanted.lower().split())
    if not here or not there:
        return False
    return there == here or f" {there} " in f" {here} " or SequenceMatcher(None, here, there).ratio() >= ALIKE


def in_region(box: Box, region: str) -> bool:
    """Is the middle of the box in that half of the picture?"""
    across, down = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return {"left": across < 0.5, "right": across >= 0.5, "top": down < 0.5, "bottom": down >= 0.5}.get(region, True)


def area(item: Item) -> float:
    """The share of the picture that its box covers."""
    return max(0.0, item.box.right - item.box.left) * max(0.0, item.box.bottom - item.box.top)


def describe(item: Item) -> str:
    """One thing in words, with all that is known of it."""
    if isinstance(item, Thing):
        return " ".join(filter(None, ("a", item.size, item.colour, item.kind)))
    if isinstance(item, Sign):
        return f'a sign that says "{item.words}"' if item.words else "a sign that I can't read"
    gear = f"{item.headgear_colour or ''} {item.headgear}".strip()
    looks = [f"{item.hair} hair"] if item.hair else []
    looks.append("bare head" if item.headgear == "none" else f"{article(gear)} {gear}")
    looks += [f"{article(item.coat)} {item.coat} coat"] if item.coat else []
    return f"a person with {listed(looks)}"


def _nearest(wanted: Wanted, graph: SceneGraph) -> tuple[Item | None, float]:
    """The thing of the right kind with the most of the named attributes, and the share of the claim that holds."""
    rated = [
        (0.5 + 0.4 * sum(traits) / len(traits), item)
        for item in items_of(graph)
        if kind_of(item) in wanted.kinds and (traits := _traits(wanted, item))
    ]
    share, best = max(rated, key=lambda pair: pair[0], default=(0.0, None))
    return best, share


def _sure(found: Sequence[Item], reading: Reading) -> float:
    return min((reading.sure.get(item.id, 0.5) for item in found), default=_UNSEEN_SURE)


@dataclass(frozen=True, slots=True)
class QueryGrade:
    """0 to 3; `holds` is the same as a yes or no."""

    grade: int
    holds: bool
    sure: float
    reason: str


def query_in(text: str) -> str:
    """The query that a text holds, by its mark (`Query: …`, quotation, tags, JSON); empty if there is none."""
    for pattern in (_TAGGED, _JSON, _NAMED, _QUOTED):
        found = pattern.search(text)
        if found is not None:
            return found[1].strip().strip("\"“”'")
    return ""


def grade(meant: Meant, reading: Reading) -> QueryGrade:
    """3: every claim holds. 2: all but an attribute. 1: a good half. 0: less than that."""
    judged = check_all(meant, reading)
    if judged.holds:
        value = 3
    elif judged.share >= _NEARLY:
        value = 2
    else:
        value = 1 if judged.share >= _PARTLY else 0
    return QueryGrade(value, judged.holds, judged.sure, judged.reason)


def scaled(value: int, low: int, high: int) -> int:
    """A grade of 0 to 3 on another scale; on one with two values only full relevance is the higher."""
    if high - low == 1:
        return high if value == 3 else low
    return low + round(value * (high - low) / 3)


Found: TypeAlias = Literal["supported", "contradicted", "unclear"]


def claims_in(text: str) -> dict[int, str]:
    """The claims of a numbered list, by number."""
    return {int(number): claim for number, claim in _NUMBERED.findall(text)}


def verdicts(schema: Mapping[str, Any], text: str, reading: Reading) -> dict[str, Any] | None:
    """A list of verdicts on the claims of the text, if that is what the schema asks for."""
    form = _form(schema)
    claims = claims_in(text)
    if form is None or not claims:
        return None
    field, number, verdict, words = form
    return {field: [{number: each, verdict: words[verify(claim, reading)]} for each, claim in claims.items()]}


def verify(claim: str, reading: Reading) -> Found:
    """What is seen of one claim; of one that names a part of the picture, in that part."""
    for box in regions_in(claim):
        reading = _within(reading, box)
    judged = check_all(understand(without_boxes(claim)), reading)
    if not judged.verdicts or len(judged.unknown) > _MOST_UNKNOWN:
        return "unclear"
    if judged.holds:
        return "supported"
    failing = max(verdict.sure for verdict in judged.verdicts if not verdict.holds)
    return "contradicted" if failing >= _SURE else "unclear"


def _within(reading: Reading, box: Box) -> Reading:
    """Only what has its middle in that part, or close to it."""
    graph = reading.graph
    here = {item.id for item in items_of(graph) if _is_in(item.box, box)}
    return replace(
        reading,
        graph=replace(
            graph,
            things=tuple(thing for thing in graph.things if thing.id in here),
            figures=tuple(figure for figure in graph.figures if figure.id in here),
            signs=tuple(sign for sign in graph.signs if sign.id in here),
        ),
    )


def _is_in(inner: Box, outer: Box) -> bool:
    across, down = (inner.left + inner.right) / 2, (inner.top + inner.bottom) / 2
    return outer.left - _EDGE <= across <= outer.right + _EDGE and outer.top - _EDGE <= down <= outer.bottom + _EDGE


def _form(schema: Mapping[str, Any]) -> tuple[str, str, str, dict[Found, str]] | None:
    """The field of the list, and of its items those of number and verdict, with the words that the verdict may have."""
    properties = plain_schema(schema, schema).get("properties", {})
    lists = [(name, plain_schema(value, schema)) for name, value in properties.items()]
    for field, value in lists:
        if len(lists) != 1 or type_of(value) != "array":
            continue
        fields = plain_schema(value.get("items", {}), schema).get("properties", {})
        plain = {name: plain_schema(each, schema) for name, each in fields.items()}
        number = next((name for name, each in plain.items() if type_of(each) == "integer"), None)
        worded = ((name, _words(each.get("enum", ()))) for name, each in plain.items())
        verdict = next(((name, words) for name, words in worded if words is not None), None)
        if number is not None and verdict is not None and len(plain) == 2:
            return field, number, *verdict
    return None


def _words(enum: Any) -> dict[Found, str] | None:
    """Our three verdicts in the words of an enumeration; None where it has not all of them."""
    found = {ours: next((word for word in enum if word in theirs), None) for ours, theirs in _WORDS.items()}
    said = {ours: word for ours, word in found.items() if word is not None}
    return said if len(said) == len(_WORDS) else None
