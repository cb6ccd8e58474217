"""Questions that lead from a sign in a picture of a life to the pages of the offline web."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sightline.types import Json, Step
from sightline_world.scene import SCENE_COLOURS, Sign
from sightline_world.tasks.made import Lot
from sightline_world.tasks.phrases import Templates, pick
from sightline_world.tasks.questions import Question, conclusion, needs_zoom, step
from sightline_world.tasks.traits import is_noticed, is_readable
from sightline_world.vocabulary import phrase
from sightline_world.web.chains import Chain, Hop, chains_from
from sightline_world.web.facts import Entity, FactBase

TEMPLATES: Mapping[str, Templates] = MappingProxyType(
    {
        "sign": {
            "training": ("the {kind} named on the sign",),
            "held-out": ("the {kind} whose name can be read on the board",),
        },
        "sign behind": {
            "training": ("the {kind} named on the sign behind {thing}",),
            "held-out": ("the {kind} whose name stands on the board behind {thing}",),
        },
        "sign elsewhere": {
            "training": ("the {kind} named on a sign in another picture of this {noun}",),
            "held-out": ("the {kind} whose name is on a board that we photographed on the same {noun} as this",),
        },
    }
)
_MOST_HOPS = 3


def from_sign(lot: Lot, number: int, base: FactBase) -> Question | None:
    """From the sign in the picture to what pages say of its town or team."""
    graph = lot.album.shots[number].graph
    if len(graph.signs) != 1 or not is_readable(graph.signs[0]):
        return None
    sign = graph.signs[0]
    entity = _entity(base, sign.words)
    chain = None if entity is None else _chain(lot, base, entity)
    if entity is None or chain is None:
        return None
    behind = _before(lot, number, sign)
    template = TEMPLATES["sign behind" if behind else "sign"]
    start = pick(template, lot.family, lot.rng).format(kind=entity.kind, thing=behind)
    steps = (
        step(lot.album, "text-to-region", f"The sign says {sign.words}.", (number, sign.box)),
        *_steps(base, chain),
    )
    return _question("sign, then web", number, chain, start, steps, 0, needs_zoom(sign))


def from_sign_elsewhere(lot: Lot, number: int, base: FactBase) -> Question | None:
    """From a picture with no sign to another of its event that has one, and on to the web."""
    album, occasion = lot.album, lot.album.occasion_of(number)
    if occasion is None or album.shots[number].graph.signs:
        return None
    found: dict[str, tuple[int, Sign]] = {}
    for each in album.numbers(occasion.pictures):
        for sign in album.shots[each].graph.signs:
            entity = _entity(base, sign.words)
            if entity is not None and (entity.id not in found or is_readable(sign)):
                found[entity.id] = each, sign
    # A name that is hardly to be read might be the one that is meant.
    if len(found) != 1 or not all(is_readable(sign) for _, sign in found.values()):
        return None
    (id_, (other, sign)), *_ = found.items()
    entity = base.entities[id_]
    chain = _chain(lot, base, entity)
    if chain is None:
        return None
    start = pick(TEMPLATES["sign elsewhere"], lot.family, lot.rng).format(kind=entity.kind, noun=occasion.noun)
    steps = (
        step(album, "search", f"Another picture of the {occasion.noun} has a sign.", (other, None)),
        step(album, "text-to-region", f"It says {sign.words}.", (other, sign.box)),
        *_steps(base, chain),
    )
    return _question("sign elsewhere, then web", number, chain, start, steps, 1, needs_zoom(sign))


def _question(
    template: str, number: int, chain: Chain, start: str, steps: tuple[Step, ...], before: int, zoom: bool
) -> Question:
    hops = before + len(chain.hops)
    text = chain.ask(start)
    chance = 1 / len(SCENE_COLOURS) if chain.answer in SCENE_COLOURS else 0.0
    about: dict[str, Json] = {"hops": [_as_json(hop) for hop in chain.hops]}
    done = (*steps, conclusion(chain.answer))
    aliases, search = chain.aliases, before > 0
    return Question(
        template, number, text, chain.answer, aliases, done, chance, about, hops, zoom=zoom, search=search, web=True
    )


def _as_json(hop: Hop) -> Json:
    """Which way, from or to which kind of subject, along which property."""
    return [hop.direction, hop.fact.subject.partition("/")[0], hop.fact.property]


def _entity(base: FactBase, words: str) -> Entity | None:
    """The only town or team of that name."""
    found = [each for each in base.named(words) if each.kind in ("town", "team")]
    return found[0] if len(found) == 1 else None


def _chain(lot: Lot, base: FactBase, entity: Entity) -> Chain | None:
    hops = 1 + round(lot.rng.uniform(0, 1) * lot.difficulty * (_MOST_HOPS - 1))
    found = chains_from(base, entity, 1, hops, lot.rng.getrandbits(32))
    return found[0] if found else None


def _steps(base: FactBase, chain: Chain) -> tuple[Step, ...]:
    return tuple(Step("search", _told(base, hop)) for hop in chain.hops)


def _told(base: FactBase, hop: Hop) -> str:
    how = "shows in its picture" if hop.by_picture else "says"
    subject, name = base.entities[hop.fact.subject].name, hop.fact.property.replace("_", " ")
    return f"{hop.pages[0]} {how}: {subject}, {name}: {hop.fact.value}."


def _before(lot: Lot, number: int, sign: Sign) -> str:
    """What stands before the sign, if only one thing does."""
    graph = lot.album.shots[number].graph
    things = {thing.id: thing for thing in graph.things if is_noticed(thing)}
    near = [
        things[each.object]
        for each in graph.relations
        if each.predicate == "behind" and each.subject == sign.id and each.object in things
    ]
    return f"the {phrase(near[0].kind, near[0].colour).partition(' ')[2]}" if len(near) == 1 else ""
