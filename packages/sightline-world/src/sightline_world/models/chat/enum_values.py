"""A value out of a closed list: facets, grades, counts in words, tags of a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sightline.types import Json
from sightline_world.models.chat.claims import At, Exists, Lit, Meant, Wanted
from sightline_world.models.chat.descriptions import STYLES, groups, tags
from sightline_world.models.chat.field_values import (
    Situation,
    claims_of,
    flag_for,
    looks_for,
    number_for,
    relations_of,
    spoken_of,
    text_for,
    topic_of,
    words_of,
)
from sightline_world.models.chat.images import SeenImage
from sightline_world.models.chat.lexicon import INDOORS
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.verification import check_all, items_of, kind_of, scaled
from sightline_world.scene import SCENE_COLOURS, SCENE_KINDS, Figure

_NEUTRAL = (
    "unknown",
    "unclear",
    "uncertain",
    "not sure",
    "n/a",
    "na",
    "not applicable",
    "undefined",
    "other",
    "none",
    "no",
)
_ABSENT = ("none", "no", "nothing", "absent", "nobody", "0", "zero")
HARDLY = 0.15
_FEW = {"none": (0, 0), "zero": (0, 0), "one": (1, 1), "single": (1, 1), "two": (2, 2), "couple": (2, 2),
        "pair": (2, 2), "few": (2, 4), "some": (1, 4), "several": (3, 6), "group": (3, 99), "many": (5, 99),
        "crowd": (5, 99), "multiple": (2, 99), "more": (3, 99)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Known:
    """A value, and how sure it is."""

    value: Json
    sure: float


def choose(values: Sequence[Json], name: str, here: Situation) -> Known:
    """The value of a closed list that fits what is known; else the most neutral of them."""
    if topic_of(name) == "id" and here.focus is not None and here.focus.label in values:
        return Known(here.focus.label, 0.95)
    if topic_of(name) in ("grade", "relevant") and here.grade is not None:
        return _graded(values, here)
    words = [value for value in values if isinstance(value, str)]
    if not words:
        return _number_among(values, name, here)
    rated = [(_rate(value, name, here), -at, value) for at, value in enumerate(words) if value.lower() not in _NEUTRAL]
    best = max(rated, default=(0.0, 0, ""))
    if best[0] > 0:
        return Known(best[2], best[0])
    return Known(_neutral(values, here), HARDLY)


def _graded(values: Sequence[Json], here: Situation) -> Known:
    """Grades as numbers or in words, from the lowest to the highest unless their words say otherwise."""
    judged = here.grade
    assert judged is not None
    numbers = sorted(value for value in values if isinstance(value, int | float) and not isinstance(value, bool))
    if numbers:
        at = scaled(judged.grade, 0, len(numbers) - 1) if len(numbers) > 1 else 0
        return Known(numbers[at], judged.sure)
    ordered = sorted(values, key=_worth)
    at = scaled(judged.grade, 0, len(ordered) - 1) if len(ordered) > 1 else 0
    return Known(ordered[at], judged.sure)


def _worth(value: Json) -> float:
    """How high a grade in words is."""
    words = set(words_of(str(value)))
    if isinstance(value, bool):
        return float(value)
    if words & {"not", "irrelevant", "no", "non", "none", "bad", "false", "unrelated"}:
        return 0.0
    if words & {
        "partially",
        "partly",
        "somewhat",
        "marginal",
        "marginally",
        "weak",
        "weakly",
        "fair",
        "low",
        "slightly",
    }:
        return 1.0
    if words & {"mostly", "good", "medium", "moderately", "related"}:
        return 2.0
    return 4.0 if words & {"perfect", "perfectly", "highly", "exact", "fully", "excellent", "high"} else 3.0


def _number_among(values: Sequence[Json], name: str, here: Situation) -> Known:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    found = number_for(name, here)
    if numbers and found is not None:
        return Known(min(numbers, key=lambda value: abs(value - found[0])), found[1])
    flags = [value for value in values if isinstance(value, bool)]
    if flags:
        flag, sure = flag_for(name, here)
        return Known(flag if flag in flags else flags[0], sure)
    return Known(None if None in values else values[0], HARDLY)


def _rate(value: str, name: str, here: Situation) -> float:
    """How surely a value of a closed list is the right one; 0 where it is not, or not known."""
    if here.option and topic_of(name) in ("option", "answer"):
        return 0.9 if value.strip().upper().startswith(here.option) else 0.0
    if topic_of(name) in ("answer", "option") and here.answered is not None:
        return here.answered[1] if value.strip().lower() == here.answered[0].lower() else 0.0
    if here.focus is None:
        return 0.0
    if here.item is not None:
        return _rate_item(value, name, here)
    counted = _rate_count(value, name, here)
    if counted is not None:
        return counted
    meant = _as_claims(value, name)
    if not meant.claims:
        return 0.0
    judged = check_all(meant, here.focus.reading)
    return judged.sure * _prominence(meant, here.focus) if judged.holds else 0.0


def _rate_item(value: str, name: str, here: Situation) -> float:
    item = here.item
    known = looks_for(name, item) if isinstance(item, Figure) else None
    text = known if known is not None else (text_for(name, here) or ("", 0.0))[0]
    return 0.7 if value.lower() == text.lower() else 0.0


def _rate_count(value: str, name: str, here: Situation) -> float | None:
    """`few`, `2`, `3+` for a field that counts things; None where the value is no count."""
    words = words_of(value)
    number = number_for(name, here)
    if number is None or not words or topic_of(name) not in ("people", "count", "kinds", "unknown"):
        return None
    if words[0].isdigit():
        low = int(words[0])
        high = (
            10**6
            if "+" in value or "more" in words
            else int(words[1])
            if len(words) > 1 and words[1].isdigit()
            else low
        )
    elif words[0] in _FEW and len(words) < 3:
        low, high = _FEW[words[0]]
    else:
        return None
    return number[1] * (0.99 if high > low else 1.0) if low <= number[0] <= high else 0.0


def _as_claims(value: str, name: str) -> Meant:
    """A value in the light of its field: `red` for `car_colour` speaks of a red car, `sunny` for a light."""
    meant, field = understand(value.replace("_", " ")), claims_of(name)
    if value.lower() in SCENE_COLOURS and field.wanted:
        return Meant((Exists(replace(field.wanted[0], colours=(value.lower(),))),))
    if value.lower() in SCENE_COLOURS:
        return Meant((Exists(Wanted(SCENE_KINDS, (value.lower(),))),))
    topic = topic_of(name)
    wanted = Lit if topic == "light" else At if topic in ("place", "setting") else None
    narrow = tuple(claim for claim in meant.claims if wanted is not None and isinstance(claim, wanted))
    if topic == "light" and not narrow and value.lower() in ("snow", "snowy"):
        narrow = (Lit(("snowfall",)),)
    if topic == "light" and not narrow and value.lower() == "day":
        narrow = (Lit(("day",)),)
    return Meant(narrow) if narrow else meant


def _prominence(meant: Meant, seen: SeenImage) -> float:
    """Larger things first, where several values of one list are to be seen."""
    sizes = [
        (item.box.right - item.box.left) * (item.box.bottom - item.box.top)
        for wanted in meant.wanted[:1]
        for item in items_of(seen.reading.graph)
        if kind_of(item) in wanted.kinds
    ]
    return 0.5 + 0.5 * min(1.0, max(sizes, default=1.0))


def _neutral(values: Sequence[Json], here: Situation) -> Json:
    known = {str(value).lower(): value for value in values}
    if None in values:
        return None
    order = (*_ABSENT, *_NEUTRAL) if here.focus is not None else (*_NEUTRAL, *_ABSENT)
    first = next((known[word] for word in ("unknown", "unclear", "uncertain") if word in known), None)
    if first is not None and here.focus is None:
        return first
    return next((known[word] for word in order if word in known), values[0])


def from_vocabulary(values: Sequence[Json], name: str, here: Situation, least: int) -> list[Known]:
    """The words of a vocabulary that hold, the surest first; then, up to the least number, the nearest."""
    if topic_of(name) == "id" and here.seen:
        return [Known(label, 0.7) for label in texts_for(name, here) if label in values]
    rated: list[tuple[float, float, int]] = []
    for at, value in enumerate(values):
        meant = _as_claims(str(value), name) if here.focus is not None else Meant()
        judged = check_all(meant, here.focus.reading) if here.focus is not None else None
        sure = _indoor(str(value), here) or (judged.sure if judged is not None and judged.holds else 0.0)
        rated.append((sure, judged.share if judged is not None else 0.0, at))
    rated.sort(key=lambda each: (-each[0], -each[1], each[2]))
    kept = [each for each in rated if each[0] > 0]
    kept += [each for each in rated if each[0] == 0][: max(0, least - len(kept))]
    return [Known(values[at], max(sure, 0.1)) for sure, _, at in kept]


def _indoor(value: str, here: Situation) -> float:
    if here.focus is None or value.lower() not in ("indoor", "indoors", "outdoor", "outdoors"):
        return 0.0
    inside = here.focus.reading.graph.place in INDOORS
    return here.focus.reading.place if inside == value.lower().startswith("in") else 0.0


def texts_for(name: str, here: Situation) -> list[str]:
    """The texts of a list, by the list's name."""
    topic = topic_of(name)
    if topic == "query" and here.focus is not None:
        found = [text_for("query", replace(here, style=style)) for style in STYLES]
        return [text[0] for text in found if text is not None]
    if topic == "id":
        graded = [(each.label, here.about(each).grade) for each in here.seen]
        return [label for label, judged in graded if judged is None or judged.holds]
    if here.focus is None:
        return []
    graph = here.focus.reading.graph
    match topic:
        case "tags":
            return tags(graph)
        case "words":
            return [sign.words for sign in graph.signs if sign.words]
        case "colour":
            return list(dict.fromkeys(colour for _, colour, _ in groups(graph) if colour))
        case "relations":
            return relations_of(here.focus)
        case "kinds":
            named = [kind_of(item) for item in spoken_of(name, here)]
            return list(dict.fromkeys(named or [kind for kind, _, _ in groups(graph)]))
        case "thinking" | "reason":
            said = text_for(name, here)
            return [f"{part.strip().rstrip('.')}." for part in said[0].split(". ")] if said else []
        case _:
            found_text = text_for(name, here)
            return [found_text[0]] if found_text is not None and found_text[0] != "none" else []
