"""How an agent ends: a structured `Finish` call, or `The final answer is: […].` in words; both are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from sightline.agent.state import WRAPS, PictureNames
from sightline.types import (
    Choice,
    Failure,
    Json,
    PictureSet,
    Prediction,
    Ranking,
    Task,
    TaskKind,
    Text,
    ToolSpec,
    Trace,
)

FINISH = "Finish"
_FINDING: frozenset[TaskKind] = frozenset(("rank", "select"))
_MARK = re.compile(
    r"final\s+answer(?:\s+is)?\W{0,6}?\s*[:：]|final\s+answer\s+is\b|最终答案\s*(?:是|为)?\s*[:：]?", re.I
)
_NOTHING = re.compile(r"\W*(?:none|nothing|no (?:photos?|pictures?|images?)|empty|无|没有)?\W*", re.I)
_REGION = re.compile(r"#[\d.]+(?:\s*,\s*[\d.]+){3}")


@dataclass(frozen=True, slots=True)
class Final:
    """An answer that was read; `unknown` are ids in it that are no picture of the task.

    In a set or a ranking they stay, where they count as wrong. `evidence` are pictures that the agent named beside a
    textual answer.
    """

    prediction: Prediction
    evidence: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    reason: str = ""


def finish_spec(task: Task) -> ToolSpec:
    """The tool that ends an attempt at this kind of task."""
    photos: dict[str, Json] = {"type": "array", "items": {"type": "string"}}
    fields: dict[str, Json] = {}
    if task.kind in _FINDING:
        order = "best first" if task.kind == "rank" else "exactly those that are asked for; an empty list if none is"
        fields["photos"] = {**photos, "description": f"Ids of the photos, {order}."}
    else:
        what = (
            f"The key of the option: {', '.join(each.key for each in task.options)}." if task.options else "In short."
        )
        fields["answer"] = {"type": "string", "description": what}
        fields["evidence"] = {**photos, "description": "Ids of the photos that show it, if any."}
    required = next(iter(fields))
    fields["reason"] = {"type": "string", "description": "Why, in one or two sentences."}
    schema: dict[str, Json] = {"type": "object", "properties": fields, "required": [required]}
    return ToolSpec(FINISH, "Give the final answer. This ends the work.", {**schema, "additionalProperties": False})


def from_call(task: Task, arguments: Mapping[str, Json], names: PictureNames, thinking: str = "") -> Final | str:
    """What a `Finish` call says, or what is wrong with it."""
    reason = str(arguments.get("reason") or "")
    if task.kind in _FINDING:
        listed = _photos(arguments, names)
        if isinstance(listed, str):
            return listed
        named = _resolved(listed, names)
        return Final(_found(task, named), unknown=named.unknown, reason=reason)
    said = next((arguments[key] for key in ("answer", "option", "text") if key in arguments), None)
    if isinstance(said, bool) or not isinstance(said, str | int | float) or not str(said).strip():
        return 'give "answer", a text'
    evidence = arguments.get("evidence", arguments.get("photos"))
    listed = [_REGION.sub("", str(each)) for each in evidence] if isinstance(evidence, list) else []
    named = _resolved(listed, names)
    return Final(_told(task, str(said), thinking), named.known, named.unknown, reason)


def _photos(arguments: Mapping[str, Json], names: PictureNames) -> list[str] | str:
    """The ids that a call gives, under whatever name; or what is wrong with them."""
    given = next((arguments[key] for key in ("photos", "pictures", "ids") if key in arguments), None)
    said, evidence = arguments.get("answer"), arguments.get("evidence")
    if given is None and isinstance(said, str):
        # Words are no ids: they may stand beside the list that is meant.
        given = said if not _pieces(said) or _resolved(_pieces(said), names).known else evidence
        if given is None:
            return 'there is no argument "answer": give "photos", a list of photo ids (an empty one if no photo fits)'
    given = next((each for each in (given, said, evidence) if each is not None), None)
    listed = _pieces(given) if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(each, str | int) for each in listed):
        return 'give "photos", a list of photo ids (an empty one if no photo fits)'
    return [_REGION.sub("", str(each)) for each in listed]


def from_text(task: Task, text: str, names: PictureNames, thinking: str = "", *, loose: bool = False) -> Final | None:
    """The answer after the last "final answer"; None where a text gives none.

    `loose` takes what else looks like one: a list of known pictures, an option, or the text itself.
    """
    marks = [*_MARK.finditer(text)]
    after = text[marks[-1].end() :].strip() if marks else None
    if task.kind in _FINDING:
        return _pictures(task, text, after, names, loose)
    if task.kind == "choose":
        choice = _parsed(task, text)
        return Final(choice) if choice.option is not None or (loose and text.strip()) else None
    if after is None:
        return Final(_told(task, text.strip(), thinking)) if loose and text.strip() else None
    said = _unwrapped(after)
    return Final(_told(task, said, thinking), _resolved(_pieces(said), names).known) if said else None


def _pictures(task: Task, text: str, after: str | None, names: PictureNames, loose: bool) -> Final | None:
    if after is not None:
        inside = _bracketed(after, first=True)
        if inside is not None:
            return _listed(task, _pieces(inside), names)
        line = after.splitlines()[0] if after else ""
        if line.strip():
            # Without brackets a model may say why it found none: words are no ids.
            return _listed(task, [piece for piece in _pieces(line) if names.find(piece) or _is_id(piece)], names)
    inside = _bracketed(text, first=False) if loose else None
    found = None if inside is None else _listed(task, _pieces(inside), names)
    return found if found is not None and set(_ids(found)) - set(found.unknown) else None


def _listed(task: Task, pieces: Sequence[str], names: PictureNames) -> Final:
    named = _resolved(pieces, names)
    return Final(_found(task, named), unknown=named.unknown)


def _ids(final: Final) -> tuple[str, ...]:
    said = final.prediction
    return said.pictures if isinstance(said, PictureSet | Ranking) else ()


def _is_id(piece: str) -> bool:
    """One word, or a file name that has blanks."""
    return len(piece.split()) == 1 or re.search(r"\.\w{2,4}$", piece) is not None


def _bracketed(text: str, *, first: bool) -> str | None:
    """What stands in the first or the last pair of square brackets; brackets within it belong to it."""
    spans: list[tuple[int, int]] = []
    depth = start = 0
    for at, letter in enumerate(text):
        if letter in "[【":
            start = at + 1 if depth == 0 else start
            depth += 1
        elif letter in "]】" and depth:
            depth -= 1
            if depth == 0:
                spans.append((start, at))
    if not spans:
        return text[start:] if depth and first else None  # Cut off before its end: what is there counts.
    begin, end = spans[0 if first else -1]
    return text[begin:end]


def _pieces(text: str) -> list[str]:
    """Ids in a list that a model wrote: JSON, or names between commas; a region stands for its picture."""
    text = _REGION.sub("", text)
    try:
        read: Any = orjson.loads(text if text.lstrip().startswith("[") else f"[{text}]")
    except orjson.JSONDecodeError:
        read = None
    if isinstance(read, list) and all(isinstance(each, str) for each in read):
        return read
    if _NOTHING.fullmatch(text):
        return []
    return [piece for part in re.split(r"[,，、;\n]", text) if (piece := part.strip(WRAPS + "[]").rstrip("."))]


@dataclass(frozen=True, slots=True)
class _Named:
    """Ids in the order of an answer, each once: pictures of the task, and names that are none."""

    ids: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(each for each in self.ids if each not in self.unknown)


def _resolved(pieces: Sequence[str], names: PictureNames) -> _Named:
    """What the pieces of a list mean; a comma within an id is mended."""
    ids: dict[str, None] = {}
    unknown: dict[str, None] = {}
    at = 0
    while at < len(pieces):
        for end in range(at + 1, min(len(pieces), at + 4) + 1):
            found = names.find(", ".join(pieces[at:end])) or names.find(",".join(pieces[at:end]))
            if found is not None:
                ids[found] = None
                at = end
                break
        else:
            strange = pieces[at].strip(WRAPS)
            if strange:
                ids[strange] = unknown[strange] = None
            at += 1
    return _Named(tuple(ids), tuple(unknown))


def _found(task: Task, named: _Named) -> Prediction:
    return Ranking(named.ids) if task.kind == "rank" else PictureSet(named.ids)


def _told(task: Task, said: str, thinking: str) -> Prediction:
    match task.kind:
        case "choose":
            return _chosen(task, said)
        case "describe":
            return Trace(thinking, said)
        case _:
            return Text(said.strip())


def _chosen(task: Task, said: str) -> Choice:
    exact = next(
        (each.key for each in task.options if each.key.casefold() == said.strip(WRAPS + ".()").casefold()), None
    )
    return Choice(exact) if exact is not None else _parsed(task, said)


def _parsed(task: Task, text: str) -> Choice:
    from sightline.metrics.choices.parse import parse_choice  # Here: it reads numbers and names in many languages.

    return parse_choice(text, task.options)


def _unwrapped(said: str) -> str:
    """An answer without quotes, stars and brackets around all of it, and without the full stop of its sentence."""
    text = said.strip(WRAPS)
    if text.endswith((".", "。")) and not re.search(r"\b\w\.$|\.\.$", text):
        text = text[:-1].rstrip(WRAPS)
    if text.startswith("[") and text.endswith("]") and text.count("[") == 1:
        text = text[1:-1]
    return text.strip(WRAPS)


def unread(text: str) -> Failure:
    """The failure of an attempt whose last words hold no answer."""
    shown = " ".join(text.split())[-200:]
    return Failure("unparsed", f"no final answer in: {shown}" if shown else "the last reply was empty")
