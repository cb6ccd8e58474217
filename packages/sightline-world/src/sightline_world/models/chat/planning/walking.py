"""From page to page: `the coach of the rival of the team on the sign`, one step for each "of"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sightline.models.json_schema import json_values
from sightline.types import ToolCall
from sightline_world.models.chat.planning.history import History
from sightline_world.models.chat.planning.toolbox import Toolbox, Use, argument

_LINKS = re.compile(r"\s+(?:of|by|for|at|in|from|to|with)\s+(?:the|its|their|his|her|this|that)\s+", re.IGNORECASE)
_NAMED = re.compile(
    r"\b(?:named|called|mentioned|written|shown|whose name|that (?:is|was) (?:named|written)|which (?:is|was) named)\b|"
    r"\bon (?:a|the|this|that) (?:sign|board)\b",
    re.IGNORECASE,
)
_FACT = re.compile(r"^[-*]\s*(?P<label>[^:\n]{2,60}):\s*(?P<value>.+)$", re.MULTILINE)
_LINK = re.compile(r"\[(?P<name>[^\]\n]{1,120})\]\((?P<url>[^)\s]{1,2048})\)")
_SENTENCE = re.compile(r"(?:[^.!?\n]|\.(?=\S))+[.!?]?")
_YEAR = re.compile(r"\b1[0-9]\d\d\b|\b20\d\d\b")
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
_SMALL = frozenset(
    """who whom whose what which when where how is was are were does did do the a an of in on at by year name called
    named kind sort many much it its has have had that this there one person""".split()  # noqa: SIM905
)
_SAME: tuple[frozenset[str], ...] = (
    frozenset({"foun", "esta", "char", "orig"}),
    frozenset({"open", "inau", "buil"}),
    frozenset({"popu", "inha", "peop", "live"}),
    frozenset({"heig", "alti", "elev", "tall", "high", "abov"}),
    frozenset({"coac", "trai", "mana"}),
    frozenset({"dire", "head", "lead", "led"}),
    frozenset({"born", "birt"}),
    frozenset({"twin", "sist", "part"}),
    frozenset({"breed", "bree", "dog", "pet", "keep", "kept"}),
    frozenset({"favo", "pref", "lik", "love"}),
    frozenset({"pain", "arti", "pict"}),
    frozenset({"play", "home", "stad", "grou"}),
    frozenset({"riva", "arch", "oppo"}),
    frozenset({"mayo", "hall"}),
)


@dataclass(frozen=True, slots=True)
class Found:
    """What a walk came to: an answer, the call that is needed first, or neither."""

    text: str = ""
    call: ToolCall | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    url: str = ""


def relations_in(question: str) -> list[str]:
    """What is asked of what, the last step first: `coach`, `rival`; the thing that has a sign is left out."""
    asked = _NAMED.split(question, maxsplit=1)[0]
    parts = [part.strip(" ?.,") for part in _LINKS.split(asked)]
    return [part for part in parts[:-1] if _stems(part)]


def walk(history: History, tools: Toolbox, relations: Sequence[str], subject: str) -> Found:
    """Open the subject's page, and from each page the one that the next relation leads to."""
    value = _Value(subject)
    for relation in reversed(relations):
        page = _page(history, tools, value)
        if isinstance(page, Found):
            return page
        found = _look(page, relation)
        if found is None:
            return Found(why=f"The page of {value.text} says nothing of the {relation}.")
        value = found
    return Found(value.text, why=f"Pages lead from {subject} to {value.text}.")


def _page(history: History, tools: Toolbox, value: _Value) -> str | Found:
    """The text of a page; searched for by its name where no address is known."""
    url = value.url
    if not url:
        hits = _done(history, "web", "query", value.text)
        if hits is None:
            return _ask(history, tools, "web", query=value.text, top_k=5)
        url = _best(hits, value.text)
    text = _done(history, "open", "url", url) if url else ""
    return _ask(history, tools, "open", url=url) if text is None else text


def _done(history: History, use: Use, field: str, wanted: str) -> str | None:
    """What a call has answered; None if it was not made, nothing if it failed."""
    for step in history.steps:
        if step.use == use and argument(step.arguments, field) == wanted:
            return "" if step.failed or step.text is None else step.text
    return None


def _ask(history: History, tools: Toolbox, use: Use, **wanted: object) -> Found:
    call = tools.call(use, len(history.steps) + 1, **wanted)
    return Found(call=call, why="Look it up." if use == "web" else "Read the page itself.")


def _best(hits: str, name: str) -> str:
    """The address of the page that has the name for its title, else of the first one."""
    said = next(json_values(hits), None)
    rows = said.get("results", said.get("pages", [])) if isinstance(said, dict) else said
    pages = [row for row in rows if isinstance(row, dict) and row.get("url")] if isinstance(rows, list) else []
    exact = [row for row in pages if str(row.get("title", "")).casefold() == name.casefold()]
    return str((exact or pages)[0]["url"]) if pages else ""


def _look(page: str, relation: str) -> _Value | None:
    """The value of the fact whose label is nearest to a relation, else of the sentence that speaks of it."""
    page = page.replace("\\n", "\n")
    stems = _stems(relation)
    facts = [(_near(stems, found["label"]), found["value"]) for found in _FACT.finditer(page)]
    best = max(facts, default=(0, ""), key=lambda fact: fact[0])
    if best[0]:
        return _value(best[1], relation)
    told = [(_near(stems, found[0]), found[0]) for found in _SENTENCE.finditer(page)]
    spoken = max(told, default=(0, ""), key=lambda fact: fact[0])
    return _value(spoken[1], relation) if spoken[0] else None


def _value(text: str, relation: str) -> _Value:
    if re.search(r"\b(?:year|when)\b", relation, re.IGNORECASE) and (year := _YEAR.search(text)):
        return _Value(year[0])
    link = _LINK.search(text)
    if link is not None:
        return _Value(link["name"], link["url"])
    if re.search(r"\bhow (?:many|much|high|tall|old|long)\b|\bpopulation\b", relation, re.IGNORECASE):
        number = _NUMBER.search(text)
        return _Value(number[0] if number else text.strip())
    return _Value(text.strip().rstrip('",'))


def _stems(text: str) -> frozenset[str]:
    words = [word for word in re.findall(r"[a-z]+", text.lower()) if word not in _SMALL]
    return frozenset(word[:4] for word in words)


def _near(stems: frozenset[str], text: str) -> int:
    """Twice the words in common, and once those of the same meaning."""
    said = _stems(text)
    alike = sum(bool(stems & group and said & group) for group in _SAME)
    return 2 * len(stems & said) + alike
