"""Chains of facts with one answer: from what a picture shows, over pages and their pictures, to a value.

A chain is closed-book: names are invented, so that nobody knows the answer, and every hop is stated on a page.
Each hop can be worded as a noun phrase, as a question and as a step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline.errors import UserError
from sightline.types import Box
from sightline_world.draw import ScenePlan, draw
from sightline_world.vocabulary import KIND_NOUNS
from sightline_world.web.facts import Entity, Fact, FactBase
from sightline_world.web.pictures import portrait, sign_picture, team_picture
from sightline_world.web.properties import PROPERTIES

_UNITS = {"m": "metres", "km": "kilometres", "km²": "square kilometres"}
START_PHRASES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("sign", "town"): "the town named on the sign",
        ("sign", "team"): "the team named on the sign",
        ("colours", "team"): "the team whose players are in the picture",
        ("looks", "person"): "the person in the picture",
    }
)
"""What a question calls its start, by what the picture shows of it and its kind."""
START_STEPS: Mapping[str, str] = MappingProxyType(
    {
        "sign": "The sign says {sign}: this is {name}.",
        "colours": "The colours are those of {name}.",
        "looks": "By the looks this is {name}.",
    }
)
START_KINDS: tuple[StartKind, ...] = ("sign", "looks", "colours")
MOST_HIDDEN, SMALLEST_LETTERS = 0.1, 9.0
"""A sign that is hidden by more, or has smaller letters in pixels, does not start a chain."""
MOST_HIDDEN_THING, SMALLEST = 0.3, 0.01
"""The same for people and things, and the smallest share of the picture that a person may have."""
_PICTURE_TRIES = 8
_PICTURES: Mapping[StartKind, Callable[[Entity, str], ScenePlan]] = MappingProxyType(
    {"sign": sign_picture, "colours": team_picture, "looks": portrait}
)
MOST_HOPS = 6
_TRIES = 400
_PICTURE_SHARE = 0.4
"""Of the chains for which it is left open, so many are to have a hop through a picture on a page."""


def aliases_of(value: str) -> tuple[str, ...]:
    """Other ways to write it: without an article or quotation marks, numbers without commas and with units in full."""
    forms = [re.sub(r"^the (River )?", "", value), value.strip("“”"), value.replace("–", "-")]
    forms += [value.removesuffix(" FC"), value.removeprefix("the ")]
    match = re.fullmatch(r"([\d,]+)(?: (\S+))?", value)
    if match:
        number, unit = match[1].replace(",", ""), match[2]
        forms += [match[1], number]
        if unit:
            forms += [f"{number} {unit}", f"{number} {_UNITS[unit]}", f"{match[1]} {_UNITS[unit]}"]
    return tuple(dict.fromkeys(form for form in forms if form != value))


Direction: TypeAlias = Literal["forward", "back"]


def phrase(base: FactBase, fact: Fact, direction: Direction, *, asks: bool = False) -> str:
    """Where a fact leads from `{x}`: "the mayor of {x}", or as a question "Who is the mayor of {x}?"."""
    subject = base.entities[fact.subject]
    told = PROPERTIES[subject.kind, fact.property]
    if direction == "back":
        return told.back_ask if asks else told.back
    return (told.ask if asks else told.phrase).replace("{shape}", _shape(subject.kind, subject.shape))


def _shape(kind: str, shape: str) -> str:
    return KIND_NOUNS[shape].plural if shape in KIND_NOUNS and kind != "product" else shape


def sentence(text: str) -> str:
    """The text with a capital letter at its start."""
    return text[0].upper() + text[1:]


StartKind: TypeAlias = Literal["sign", "colours", "looks"]


def can_start(base: FactBase, entity: Entity, kind: StartKind) -> bool:
    """Whether a picture can show which entity it is: its name on a sign, its colours, its looks."""
    if kind == "looks":
        return entity.looks is not None
    if kind == "colours":
        return entity.colours is not None
    if entity.kind not in ("town", "team"):
        return False
    return sum(each.kind in ("town", "team") for each in base.named(entity.short)) == 1


def picture_of(entity: Entity, kind: StartKind, seed: str) -> ScenePlan | None:
    """A picture from which one can tell the entity; None in the rare case that none was found."""
    make = _PICTURES[kind]
    for turn in range(_PICTURE_TRIES):
        plan = make(entity, f"/{seed}/{turn}")
        if is_clear(plan):
            return plan
    return None


def is_clear(plan: ScenePlan) -> bool:
    """Whether all that the plan wishes for is there, hardly hidden, and large enough to be read or known."""
    graph = draw(plan).graph
    found = (len(graph.signs), len(graph.figures), len(graph.things))
    if found != (len(plan.signs), len(plan.people), len(plan.things)):
        return False
    readable = all(sign.hidden <= MOST_HIDDEN and sign.letter_px >= SMALLEST_LETTERS for sign in graph.signs)
    known = all(one.hidden <= MOST_HIDDEN_THING and _area(one.box) >= SMALLEST for one in graph.figures)
    return readable and known and all(one.hidden <= MOST_HIDDEN_THING for one in graph.things)


def _area(box: Box) -> float:
    return (box.right - box.left) * (box.bottom - box.top)


@dataclass(frozen=True, slots=True)
class Hop:
    """One fact, followed from its subject to its value or back; `pages` are those of the encyclopaedia that tell it."""

    fact: Fact
    direction: Direction
    pages: tuple[str, ...]

    @property
    def origin(self) -> str | None:
        """The entity from which the hop leads on."""
        return self.fact.subject if self.direction == "forward" else self.fact.object

    @property
    def target(self) -> str | None:
        """The entity to which it leads; None for a plain value, as a year is."""
        return self.fact.object if self.direction == "forward" else self.fact.subject

    @property
    def by_picture(self) -> bool:
        """Whether only the picture on the page tells it."""
        return self.fact.shown


@dataclass(frozen=True, slots=True)
class Chain:
    """Hops from `start`; `answer` is the only value to which they lead.

    `picture` shows the start in the way that `shows` says: a sign with its name, a team's colours, a person's looks.
    `question` speaks of that picture; `ask` puts another start into the same words. `steps` tell the way in words.
    """

    id: str
    start: str
    shows: StartKind
    picture: ScenePlan
    hops: tuple[Hop, ...]
    question: str
    answer: str
    aliases: tuple[str, ...]
    asks: str
    steps: tuple[str, ...]

    def ask(self, start: str) -> str:
        """The question about another mention of the start: "the town whose sign stands behind the red car"."""
        return sentence(self.asks.replace("{x}", start))

    @property
    def by_picture(self) -> bool:
        """Whether a hop leads through a picture on a page."""
        return any(hop.by_picture for hop in self.hops)


def chains(
    base: FactBase,
    n: int,
    hops: int,
    seed: int | str = 0,
    *,
    shows: Sequence[StartKind] = START_KINDS,
    by_picture: bool | None = None,
) -> tuple[Chain, ...]:
    """So many different chains of so many hops; `by_picture` asks for, or leaves out, hops through pages' pictures."""
    starts = {kind: [each for each in base.entities.values() if can_start(base, each, kind)] for kind in shows}
    found: dict[str, Chain] = {}
    for turn in range(n):
        kind = shows[turn % len(shows)]
        for attempt in range(_TRIES):
            rng = Random(f"{base.seed}/chain/{seed}/{hops}/{turn}/{attempt}")
            chain = _chain(base, rng.choice(starts[kind]), kind, hops, by_picture, rng)
            if chain is not None and chain.id not in found:
                found[chain.id] = chain
                break
        else:
            raise UserError(
                f"only {turn} chains of {hops} hops were found; {n} were asked for.", "ask for fewer, or another length"
            )
    return tuple(found.values())


def chains_from(
    base: FactBase, start: Entity, n: int, hops: int, seed: int | str = 0, *, by_picture: bool | None = None
) -> tuple[Chain, ...]:
    """Up to so many different chains that start at a town, a team or a person, such as one seen in a life's picture."""
    kinds = [kind for kind in START_KINDS if can_start(base, start, kind)]
    found: dict[str, Chain] = {}
    for attempt in range(_TRIES if kinds else 0):
        if len(found) == n:
            break
        rng = Random(f"{base.seed}/chain/{seed}/{hops}/{start.id}/{attempt}")
        chain = _chain(base, start, kinds[0], hops, by_picture, rng)
        if chain is not None:
            found.setdefault(chain.id, chain)
    return tuple(found.values())


def _chain(
    base: FactBase, start: Entity, kind: StartKind, hops: int, by_picture: bool | None, rng: Random
) -> Chain | None:
    """A walk by lot from the start, or None where it ends too early or gives itself away."""
    if not 1 <= hops <= MOST_HOPS:
        raise UserError(f"a chain has 1 to {MOST_HOPS} hops; {hops} were asked for.", "ask for fewer hops")
    wanted = rng.random() < _PICTURE_SHARE if by_picture is None else by_picture
    walk = _walk(base, start, hops, wanted, rng)
    if walk is None or by_picture not in (None, any(hop.by_picture for hop in walk)) or _is_short_cut(base, walk):
        return None
    if not all(is_clear(base.pictures[hop.fact.subject]) for hop in walk if hop.by_picture):
        return None
    picture = picture_of(start, kind, f"{rng.getrandbits(48):x}")
    if picture is None:
        return None
    path = "/".join(hop.fact.property + ("" if hop.direction == "forward" else "-of") for hop in walk)
    asks, answer = _question(base, walk), _end(base, walk[-1])
    return Chain(
        id=f"{start.id}/{path}",
        start=start.id,
        shows=kind,
        picture=picture,
        hops=walk,
        question=sentence(asks.replace("{x}", START_PHRASES[kind, start.kind])),
        answer=answer,
        aliases=aliases_of(answer),
        asks=asks,
        steps=(START_STEPS[kind].format(name=start.name, sign=start.short.upper()), *_steps(base, walk)),
    )


def _walk(base: FactBase, start: Entity, hops: int, wanted: bool, rng: Random) -> tuple[Hop, ...] | None:
    walk: list[Hop] = []
    here, been = start.id, {start.id}
    for left in reversed(range(hops)):
        ways = [hop for hop in steps(base, here) if hop.target not in been and (left == 0 or hop.target is not None)]
        if wanted and not any(hop.by_picture for hop in walk):
            ways = [hop for hop in ways if hop.by_picture] or [hop for hop in ways if _to_picture(base, hop)] or ways
        if not ways:
            return None
        hop = rng.choice(ways)
        walk.append(hop)
        if hop.target is not None:
            been.add(hop.target)
            here = hop.target
    return tuple(walk)


def _to_picture(base: FactBase, hop: Hop) -> bool:
    """Whether it leads to something whose picture leads on to another entity."""
    return hop.target is not None and any(fact.shown and fact.object for fact in base.of_subject(hop.target))


def steps(base: FactBase, entity: str) -> Iterator[Hop]:
    """All hops from an entity that lead to one value only."""
    for fact in base.of_subject(entity):
        if fact.until is None and len(base.current(entity, fact.property)) == 1:
            yield Hop(fact, "forward", pages_of(base, fact))
    for fact in base.to_object(entity):
        subject = base.entities[fact.subject].kind
        told = PROPERTIES[subject, fact.property]
        if fact.until is None and told.back and base.subjects(fact.property, entity, subject) == (fact.subject,):
            yield Hop(fact, "back", pages_of(base, fact))


def pages_of(base: FactBase, fact: Fact) -> tuple[str, ...]:
    """Pages of the encyclopaedia that tell a fact: that of its subject, and that of its object where it lists it."""
    subject = base.entities[fact.subject]
    listed = fact.object is not None and not fact.shown and PROPERTIES[subject.kind, fact.property].lists
    return (subject.url, base.entities[fact.object].url) if listed and fact.object else (subject.url,)


def _is_short_cut(base: FactBase, walk: Sequence[Hop]) -> bool:
    """Whether the answer already stands on a page, or in its picture, before the last."""
    last = walk[-1]
    values: Collection[str | None] = {last.fact.value, last.target} if last.direction == "forward" else {last.target}
    for hop in walk[:-1]:
        assert hop.origin is not None
        facts = (*base.of_subject(hop.origin), *base.to_object(hop.origin))
        if any({fact.value, fact.object, fact.subject} & {*values} - {None} for fact in facts):
            return True
    return False


def _question(base: FactBase, walk: Sequence[Hop]) -> str:
    """The whole chain as one question about `{x}`."""
    words = "{x}"
    for hop in walk[:-1]:
        words = phrase(base, hop.fact, hop.direction).replace("{x}", words)
    return phrase(base, walk[-1].fact, walk[-1].direction, asks=True).replace("{x}", words)


def _steps(base: FactBase, walk: Sequence[Hop]) -> Iterator[str]:
    """ "The mayor of Beckwick is Mara Trask.", hop by hop."""
    for hop in walk:
        assert hop.origin is not None
        words = phrase(base, hop.fact, hop.direction).replace("{x}", base.entities[hop.origin].name)
        yield sentence(f"{words} is {_end(base, hop)}.")


def _end(base: FactBase, hop: Hop) -> str:
    """What a hop leads to, as text."""
    return hop.fact.value if hop.target is None else base.entities[hop.target].name
