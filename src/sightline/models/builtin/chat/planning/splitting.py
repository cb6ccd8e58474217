"""A request taken apart: the words for the target, those for the anchor, and what binds the two."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from sightline.models.builtin.chat.grammar import understand

Bond: TypeAlias = Literal["", "day", "event", "town", "after", "before", "next", "previous"]
Side: TypeAlias = Literal["", "after", "before"]
_DAYS = "day|afternoon|morning|evening|night|date"
EVENTS = (
    r"(?:market day|day out|day|afternoon|morning|evening|night|trip|outing|visit|holiday|vacation|excursion|event|"
    r"occasion|party|birthday|match|game|weekend|time|walk|tour|journey|concert|picnic|episode|session|stay|"
    r"celebration|gathering|album|adventure|moment|festival|hike|ride|camp|date|getaway|break|expedition|stroll|fair|"
    r"get-together|travels|voyage|ramble|reunion|meeting|shoot)s?"
)
_TOWNS = r"(?:town|city|village|place|location)"
_CLAUSE = (
    r"(?:when|where|that|which|on which|during which|in which|at which|whose|with|as|of|featuring|showing|we|i|in|at)"
)
PICTURES = r"(?:pictures?|photos?|photographs?|images?|shots?|snaps?|ones?)"
_FRONT = re.compile(
    rf"^\W*(?:(?:on|during|in|at|from|for|of|take|consider|think of|think back to|remember|recall|there was)\s+)?"
    rf"(?:the|that|our|my|a|an)?\s*(?P<same>same\s+)?(?:\w+\s+){{0,2}}?(?P<event>{EVENTS}|{_TOWNS})\b\s+(?P<anchor>.+?)\s*"
    rf"(?:[,;:–—]|\s-\s|\?|\.(?=\s))\s*(?P<target>.+)$",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_STEPPED = re.compile(
    rf"\b(?:on|during|from|of|in|at|for)?\s*(?:the|our|my)?\s*(?:very\s+)?(?P<step>next|following|previous|preceding|last)?\s*"
    rf"(?:{EVENTS})\s+(?:right |just |directly |immediately |that came |that followed |which came )?"
    rf"(?P<side>after|before|following|preceding|follow\w*)\s+(?:on\s+)?(?:the\s+)?(?:one|that|{EVENTS})?\s*{_CLAUSE}?\s+(?P<anchor>.+)$",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_TRAILING = re.compile(
    rf"[,;]?\s*\b(?:taken |shot |made |that were taken |that we took |we took |i took )?"
    rf"(?:from|on|during|of|in|at|to|for)\s+"
    rf"(?:the|that|this|our|my|a|one)?\s*(?:very\s+)?(?P<same>same\s+)?(?:\w+\s+)?(?P<event>{EVENTS}|{_TOWNS})\s+"
    rf"(?:(?:out|trip|there)\s+)?{_CLAUSE}\s+(?P<anchor>.+)$",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_SIDE = re.compile(
    r"[,;]?\s*\b(?:taken |shot |made |from )?(?P<side>after|before|since|until|later than|earlier than|prior to)\s+"
    r"(?:the (?:day|time|moment|trip|first time|last time) )?(?:when |where |that )?(?P<anchor>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_WHEN = re.compile(
    r"[,;]?\s*\b(?:when|where|while|as|at which|on which)\s+"
    r"(?:we|i|they|there was|there were|somebody|someone|a|the)\b(?P<anchor>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_RELATIVE = re.compile(
    r"(?P<what>.+?),?\s+(?:whom|who|that|which)?\s*(?:we|i)\s+(?:had\s+)?(?P<pick>first|last)?\s*"
    r"(?:met|bought|found|got|spotted|came across|picked up|acquired)\s+"
    r"(?P<where>(?:at|on|in|by|during|among|between)\s.+?)"
    r"(?:[,;.?]\s*(?P<rest>.*))?$",
    re.IGNORECASE | re.DOTALL,
)
_BACK = re.compile(
    rf"\b(?:(?:that|the)\s+same|that|this|the very same)\s+(?P<event>{EVENTS}|{_TOWNS})\b|"
    rf"\b(?:then|there)\s*$|\bits\b|\b(?:on|from|of|at) it\b",
    re.IGNORECASE,
)
ASIDE = re.compile(
    rf"\b(?:(?:on|during|from|in|at|of)\s+)?(?:(?:that|the|this)\s+(?:very\s+)?same|that|this)\s+(?:{EVENTS}|{_TOWNS})\b|"
    rf"\b(?:on|during|from)\s+(?:an?other|a different|some other|other|later|earlier)\s+(?:{EVENTS}|years?)\b|"
    r"\b(?:years?|months?|weeks?|days?) (?:later|earlier|after|before)\b|\blater that\b|"
    r"\b(?:an?other|a different|other) years?\b",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"[,;]?\s*\b(?:from|on|of|at|during)?\s*(?:the\s+)?(?:very\s+)?(?:next|following|first|previous|last) time\s+"
    r"(?:that\s+)?"
    r"(?P<via>.+?)[,;]?\s+(?P<side>after|since|following|before)\s+(?P<anchor>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_TRIP = re.compile(r"\b(?:trip|holiday|vacation|journey|excursion|tour|travel)", re.IGNORECASE)
_CUE = re.compile(
    rf"\b(?:(?:the|that|this|their|its)\s+)?(?:very\s+)?(?:same|that|whose)\s+(?P<event>{EVENTS}|{_TOWNS}|date)\b",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;:–—]\s*|\s-\s|\s(?:and|with|as|when|where|while|which|that|alongside|like)\s", re.IGNORECASE)
_ARTICLE = re.compile(r"\s(?:the|a|an|my|our)\s", re.IGNORECASE)
_LATER = re.compile(r"\b(?:later|afterwards|after that|after it|subsequently|thereafter)\b", re.IGNORECASE)
_EARLIER = re.compile(r"\b(?:earlier|beforehand|before that|before it|previously)\b", re.IGNORECASE)
_SPLIT_AT = re.compile(rf"\b(?P<event>{EVENTS})\b", re.IGNORECASE)
_CLAUSES = re.compile(
    r"[,;]|\b(?:when|where|on which|in which|at which|that|we|i|was|were|came|again)\b", re.IGNORECASE
)
_MOVE = re.compile(
    r"(?:\b(?:from|taken|while|when|in|at)\s+)?\b(?:before|after|since|until|ahead of|following)\s+"
    r"(?:(?:we|i|our|my|the|last|recent)\s+)*(?:moved?|moving|changed homes?|change of home)\b"
    r"(?:\s+(?:house|home|homes|away|flat|town))?|"
    r"\b(?:in|at|from|of)\s+(?:my|our|the)\s+(?:old|new|previous|former|current)\s+(?:home|house|flat|place)\b|"
    r"\b(?:while|when)\s+(?:we|i)\s+(?:still|already)?\s*(?:lived|used to live)\b[^,;.?]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Split:
    """The words of a request.

    `side` is before or after the anchor within its own episode, or before or after `via`, if there is one. Of the next
    episode, `via` is what it must show too. `moved` stands for the move to another home, instead of an anchor.
    """

    target: str
    anchor: str = ""
    bond: Bond = ""
    side: Side = ""
    via: str = ""
    trips: bool = False
    moved: Side = ""


def split(text: str) -> Split:
    """Target, anchor, and what binds them; no anchor where nothing is told of another picture."""
    move = _MOVE.search(text)
    if move is not None:
        return Split(f"{text[: move.start()]} {text[move.end() :]}", moved=_side_of_move(move[0]))
    found = _framed(text)
    if found.bond in ("day", "event") and not found.via:
        return _with_moment(found)
    return _with_company(found) if found.bond in ("next", "previous") and not found.trips and not found.via else found


def _side_of_move(words: str) -> Side:
    return (
        "before"
        if re.search(r"\b(?:before|until|old|previous|former|used to|ahead)\b", words, re.IGNORECASE)
        else "after"
    )


def _with_moment(found: Split) -> Split:
    """`the day of the fair, before we saw the clown`: a side in time of something else at the same episode."""
    for word in re.finditer(r"\b(?P<side>before|after)\b", found.anchor, re.IGNORECASE):
        left, right = found.anchor[: word.start()], found.anchor[word.end() :]
        if understand(left).claims and understand(right).claims:
            side: Side = "before" if word["side"].lower() == "before" else "after"
            return replace(found, anchor=left, via=right, side=side)
    return found


def _with_company(found: Split) -> Split:
    """`the day after the fair on which the clown was there again`: the clown says which of the later days is meant."""
    for point in reversed(list(_CLAUSES.finditer(found.anchor))):
        left, right = found.anchor[: point.start()], found.anchor[point.end() :]
        if understand(left).claims and understand(right).claims:
            return replace(found, anchor=left, via=right)
    return found


def _framed(text: str) -> Split:
    """The request by the first frame that it fits."""
    sentences = [part.strip() for part in re.split(r"(?<=[.!?;])\s+", text) if part.strip()]
    if len(sentences) > 1:
        back = _BACK.search(sentences[-1])
        if back is not None:
            told = _SPLIT_AT.search(" ".join(sentences[:-1]))
            event = back["event"] or (told["event"] if told else "trip")
            return Split(sentences[-1], " ".join(sentences[:-1]), _bond_of(event), _side_in(sentences[-1]))
    found = _RELATIVE.match(text)
    if found is not None and understand(found["what"]).wanted:
        same = re.sub(r"\b(the|a|an|that|this)\s+", "the same ", found["what"], count=1, flags=re.IGNORECASE)
        return Split(f"{same} {found['rest'] or ''}", f"{found['what']} {found['pick'] or ''} {found['where']}")
    found = _AGAIN.search(text)
    if found is not None and understand(found["via"]).wanted:
        anchor, rest = _cut(found["anchor"])
        bond: Bond = "previous" if found["side"].lower() == "before" else "next"
        return Split(f"{text[: found.start()]} {rest}", anchor, bond, via=found["via"])
    found = _STEPPED.search(text)
    if found is not None:
        anchor, rest = _cut(found["anchor"])
        bond = "next" if found["side"].lower().startswith(("after", "follow")) else "previous"
        trips = _TRIP.search(text[found.start() : found.start("side")]) is not None
        return Split(f"{text[: found.start()]} {rest}", anchor, bond, trips=trips)
    front = _FRONT.match(text)
    if front is not None and _is_request(front["target"]):
        return Split(front["target"], front["anchor"], _bond_of(front["event"]), _side_in(front["target"]))
    for pattern in (_TRAILING, _SIDE, _WHEN):
        found = pattern.search(text)
        if pattern is _SIDE and found is not None and _SPLIT_AT.search(text, 0, found.start()):
            loose = _by_cue(text)
            if loose.anchor:
                return loose
        if found is not None:
            anchor, rest = _cut(found["anchor"])
            if found.start() == 0 and not rest:
                continue
            bond, side = _bond_in(found, text)
            target = f"{text[: found.start()]} {rest}"
            return Split(target, anchor, bond, side or (_side_in(target) if bond in ("day", "event") else ""))
    return _by_cue(text)


def _by_cue(text: str) -> Split:
    """No known frame: what stands on the other side of "the same day" from the request is the anchor."""
    for cue in (*_CUE.finditer(text), *_SPLIT_AT.finditer(text)):
        left, right = text[: cue.start()], text[cue.end() :]
        if understand(left).claims and understand(right).claims:
            flip = _is_request(right) and not _is_request(left)
        else:
            # All is said on one side: an episode that is named first is told of first.
            flip = not understand(left).claims
            left, right = _halves(right if flip else left)
        if understand(left).claims and understand(right).claims:
            target, anchor = (right, left) if flip else (left, right)
            return Split(target, anchor, _bond_of(cue["event"]), _side_in(target))
    return Split(text)


def _halves(text: str) -> tuple[str, str]:
    """The text before and after a break that leaves something on both sides: the first mark, else the last article."""
    points = (*_BREAK.finditer(text), *reversed(list(_ARTICLE.finditer(text))))
    for point in points:
        left, right = text[: point.start()], text[point.end() :]
        if understand(left).claims and understand(right).claims:
            return left, right
    return text, ""


def _side_in(target: str) -> Side:
    """`later that day`, `earlier on the same trip`: a side in time of the anchor."""
    if _LATER.search(target):
        return "after"
    return "before" if _EARLIER.search(target) else ""


def _cut(anchor: str) -> tuple[str, str]:
    """An anchor ends where a comma leads back to the request."""
    for comma in re.finditer(r"[,;:]\s+|[.?!]\s+", anchor):
        rest = anchor[comma.end() :]
        if _is_request(rest):
            return anchor[: comma.start()], rest
    return anchor, ""


def _is_request(text: str) -> bool:
    lead = re.match(
        rf"\W*(?:please|now|can you|could you|show|find|give|get|list|which|what|where|who|i want|i need|i'm looking|"
        rf"i am looking|look|select|pick|return|search|pull|dig|fetch|hand|bring|"
        rf"name|i'd like|i would like|all|the|any|every|{PICTURES})\b",
        text,
        re.IGNORECASE,
    )
    return lead is not None or bool(re.search(rf"\b{PICTURES}\b", text, re.IGNORECASE))


def _bond_in(found: re.Match[str], text: str) -> tuple[Bond, Side]:
    groups = found.groupdict()
    word = (groups.get("side") or "").lower()
    if word:
        side: Side = "before" if word in ("before", "until", "earlier than", "prior to") else "after"
        inside = _CUE.search(text)
        return (_bond_of(inside["event"]), side) if inside is not None else (side, "")
    if re.search(rf"\bsame\s+{_TOWNS}\b", text, re.IGNORECASE):
        return "town", ""
    if re.search(rf"\bsame\s+(?:{_DAYS})\b", text, re.IGNORECASE):
        return "day", ""
    return _bond_of(groups.get("event") or "event"), ""


def _bond_of(event: str) -> Bond:
    if re.fullmatch(_TOWNS, event, re.IGNORECASE):
        return "town"
    return "day" if re.fullmatch(rf"(?:{_DAYS})s?", event, re.IGNORECASE) else "event"
