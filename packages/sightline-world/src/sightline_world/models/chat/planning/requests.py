"""A request for pictures of a photo history taken apart: what to look for, and the occasion that it is tied to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from sightline_world.models.chat.claims import Claim, Either, Exists, Meant, Related, Wanted
from sightline_world.models.chat.lexicon import PERSON, scan
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.planning.named_times import NamedTimes, named_times
from sightline_world.models.chat.planning.occasions import (
    EVENTS,
    ORDER,
    PICTURES,
    TOWNS,
    Side,
    ToldOccasion,
    When,
    occasion_at,
    read_occasion,
    says,
    without_other_times,
)
from sightline_world.scene import SCENE_KINDS

_BREAK = re.compile(
    r"[,;:.?!–—](?:\s+|$)|\s[-–—]\s|\s(?=(?:i'd like|i would like|i want|i need|please|show me|give me|find)\b)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    rf"\W*(?:(?:and|so|then|now|please|could you|can you|would you|kindly)\s+)*(?:show|find|give|get|list|which|"
    rf"what|where|"
    rf"who|i want|i need|i'm looking|i am looking|i'd like|i would like|look|select|pick|return|search|pull|dig|"
    rf"fetch|hand|"
    rf"bring|name|gather|collect|locate|retrieve|choose|point|identify|display|let me|track|hunt|sort|"
    rf"there (?:must|should|might|may|ought|are|were|is)|we need|all|every|any|those|only the|{PICTURES}|ones?)\b",
    re.IGNORECASE,
)  # fmt: skip
_PICTURE = re.compile(rf"\b{PICTURES}\b", re.IGNORECASE)
_VERY = re.compile(r"\b(?:same|selfsame|identical|(?:the|that|this) (?:very|exact|one and only))\b", re.IGNORECASE)
_TOLD = re.compile(
    r"\b(?:we|i|one|us)\s+(?:\w+\s+)?(?:saw|see|sees|seen|noticed|spotted|met|came across|encountered|had|found|"
    r"photographed|"
    r"caught|ran into|passed|witnessed|observed|glimpsed|took|discovered|laid eyes|were shown|could see)\b",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"\b(?:the|that|this|a|some)?\s*(?:very\s+)?(?:same\s+)?(?:person|someone|somebody|man|woman|friend|figure|"
    r"individual|"
    r"stranger|guy|lady|whoever|one (?=who|in|wearing))\b",
    re.IGNORECASE,
)
_MET = re.compile(
    r"(?P<what>.+?),?\s+(?:whom|who|that|which)?\s*(?:we|i)\s+(?:had\s+)?(?:first|last)?\s*"
    r"(?:met|bought|found|got|spotted|came across|picked up|acquired)\s+(?P<where>(?:at|on|in|by|during|among)\s.+?)"
    r"(?:[,;.?]\s*(?P<rest>.*))?$",
    re.IGNORECASE | re.DOTALL,
)
_MOVE = re.compile(
    r"\b(?:mov(?:e|ed|ing)|relocat\w+|chang(?:e|ed|ing) (?:of )?(?:my |our |the )?(?:homes?|house|address|towns?)|"
    r"(?:new|old|former|previous|current) (?:home|house|flat|address)|(?:still |used to |then )?liv(?:e|ed|ing) in|"
    r"settl\w+ in|resid\w+ in|still (?:lived|living)|used to live|left [A-Z]\w+ for|exchang\w+ [A-Z]\w+ for|"
    r"swapp?\w* [A-Z]\w+ for|my home|our home|home was|at home in)\b"
)  # fmt: skip
_BEFORE_MOVE = re.compile(r"\b(?:before|after|since|until|prior|while|when|once)\b", re.IGNORECASE)
_OLD = re.compile(
    r"\b(?:before|until|prior|ahead|old|former|previous|still|used to|leaving|left|yet|earlier)\b", re.IGNORECASE
)
_NEW = re.compile(r"\b(?:after|since|new|now|once|following|already|later|current|had|having)\b", re.IGNORECASE)
_AFTERTHOUGHT = re.compile(
    rf"\b(?:right |just |shortly |directly )?(?:after|before)(?: (?:that|it|this)\b)?|\b(?:{EVENTS})\b", re.I
)
_ASIDE = re.compile(
    rf"\b(?:(?:on|during|from|in|at|of)\s+)?(?:(?:that|the|this)\s+(?:very\s+)?same|that|this)\s+(?:{EVENTS}|{TOWNS})\b",
    re.IGNORECASE,
)

_RULED_OUT = re.compile(r"(?:\bnot|\bnever|n't)\s+$", re.IGNORECASE)
_HARMLESS = frozenset(
    re.findall(
        r"\w+",
        "about above across again along also among anyhow around away back because been before behind being both bring "
        "came come comes could dig during each either else enough ever every far few follow following from further get "
        "give go going gone had have having here hunt into just keep kept know leave left let list look lot many maybe "
        "memory might mind more most must need next once only ought out over own perhaps pick place please pull quite "
        "rather recall recollect remember remind round same see seem seen several shall should show since somehow "
        "someone something somewhat somewhere soon stand stood such sure take taken tell than then there think "
        "thinking though through trip try turn under until upon use used want well went whatever wherever whether "
        "whichever while whole with within without wonder would yet",
    )
)
"""Words of a request that are no condition, whether the grammar knows them or not."""


@dataclass(frozen=True, slots=True)
class Split:
    """The words of a request; `when` says how the target lies to the occasion.

    `thing` are words for something that was at the occasion, and is looked for at other times. `moved` is before or
    after the move to another home. `part` was seen within the occasion, and `side` of it is what is meant.
    """

    target: str
    occasion: str = ""
    when: When = ""
    thing: str = ""
    moved: Side = ""
    part: str = ""
    side: Side = ""


def split(text: str) -> Split:
    """Target, occasion, and how the two are tied."""
    moved = _moved(text)
    if moved is not None:
        return moved
    plain, when = without_other_times(text)
    met = _MET.match(plain)
    if met is not None and when and says(met["what"]):
        return Split(met["rest"] or "", f"the time {met['where']}", when, met["what"])
    found = _told_first(plain) or _in_order(plain)
    if not found.occasion:
        return found
    found = _with_part(found)
    if not when and not _is_again(found.target):
        return found
    return _with_thing(found, when or (found.when if found.when != "in" else "other"))


def _is_again(target: str) -> bool:
    """Does the target speak of "the same guitar", or "that very person"?"""
    for found in _VERY.finditer(target):
        near = next(
            (term for term in scan(target[found.end() :]) if term.sort not in ("stop", "unknown", "article")), None
        )
        if near is not None and near.sort in ("kind", "hair", "coat"):
            return True
    return False


def _with_part(found: Split) -> Split:
    """`the boats after we saw a kite, from the day with the tent`: a side in time, told before the occasion."""
    for cue in ORDER.finditer(found.target):
        left, right = found.target[: cue.start()], found.target[cue.end() :]
        right, request = _closed(right)
        if says(right) and says(f"{left} {request}"):
            side: Side = "after" if cue["after"] else "before"
            return replace(found, target=f"{left} {request}", part=right, side=side)
    return found


def _told_first(text: str) -> Split | None:
    """`We once saw a snowman. Which photos of that day show a mug?`: an occasion in a sentence of its own."""
    sentences = [part for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]
    asking = [part for part in sentences if _asks(part)]
    telling = [part for part in sentences if not _asks(part)]
    if not asking or not telling or not says(" ".join(telling)) or not says(" ".join(asking)):
        return None
    request, told = " ".join(asking), " ".join(telling)
    start = occasion_at(request)
    if start is None:
        return Split(request, told, "in")
    found = _AFTERTHOUGHT.search(request, start)
    end = len(request) if found is None else found.end()
    after = _AFTERTHOUGHT.match(request, end + 1)
    end = after.end() if after is not None else end
    return Split(f"{request[:start]} {request[end:]}", f"{request[start:end]} {told}", "in")


def _in_order(text: str) -> Split:
    """One sentence, in which the occasion comes last, or first; the first word for an occasion that makes sense."""
    start = occasion_at(text)
    first: Split | None = None
    while start is not None:
        found = _split_at(text, start)
        is_ruled_out = _RULED_OUT.search(text, 0, start) is not None  # "not at night" is no occasion.
        if not is_ruled_out and says(found.target) and says(found.occasion):
            return found
        first = first or (None if is_ruled_out else found)
        noun = re.compile(rf"\b(?:{EVENTS}|{TOWNS})\b", re.IGNORECASE).search(text, start)
        start = None if noun is None else occasion_at(text, noun.end())
    loose = _without_noun(text)
    return loose if loose.occasion or first is None else _halved(first)


def _halved(found: Split) -> Split:
    """All is said on one side of the words for the occasion: the last thing that is named belongs to it."""
    for article in reversed([*re.finditer(r"\s(?:the|a|an|my|our)\s", found.target, re.IGNORECASE)]):
        left, right = found.target[: article.start()], found.target[article.end() :]
        if says(left) and says(right):
            return replace(found, target=left, occasion=f"{found.occasion} {right}")
    return found


def _split_at(text: str, start: int) -> Split:
    before, rest = text[:start], text[start:]
    occasion, request = _closed(rest)
    when: When = "in"
    cue = next((cue for cue in ORDER.finditer(before) if not before[cue.end() :].strip()), None)
    if cue is not None:
        before, when = before[: cue.start()], "after" if cue["after"] else "before"
    if not request and not says(before):
        occasion, request = _broken(rest)
    if says(before) and request and not _asks(before):
        # What is told before an occasion, where the request comes after it, belongs to the occasion.
        return Split(request, f"{before} {occasion}", when)
    if says(before) and not request and _TOLD.search(before) and not _asks(before):
        told, wanted = _broken(rest)
        return Split(wanted or told, f"{before} {told if wanted else ''}", when)
    return Split(f"{before} {request}", occasion, when)


def _broken(rest: str) -> tuple[str, str]:
    """The occasion and a request without a verb: what stands after the last stop, or the last comma."""
    for marks in (r"[;:.?!–—](?:\s+|$)|\s[-–—]\s", r",\s+"):
        for mark in reversed([*re.finditer(marks, rest)]):
            left, right = rest[: mark.start()], rest[mark.end() :]
            if says(left) and says(right) and not _TOLD.search(right):
                return left, right
    return rest, ""


def _without_noun(text: str) -> Split:
    """`dogs from before we saw the tent`, `the boats when we saw a kite`: no word for an occasion."""
    for cue in (*ORDER.finditer(text), *re.finditer(r"\b(?:when|while)\b", text, re.IGNORECASE)):
        left, right = text[: cue.start()], text[cue.end() :]
        right, request = _closed(right)
        if says(right) and says(f"{left} {request}"):
            groups = cue.groupdict()
            when: When = "after" if groups.get("after") else "before" if groups.get("before") else "in"
            return Split(f"{left} {request}", right, when)
    return Split(text)


def _closed(rest: str) -> tuple[str, str]:
    """An occasion up to where a comma or a full stop leads to the request, and the request."""
    breaks = [*_BREAK.finditer(rest)]
    for number, mark in enumerate(breaks):
        end = breaks[number + 1].start() if number + 1 < len(breaks) else len(rest)
        if _asks(rest[mark.end() : end]) and says(rest[mark.end() :]):
            return rest[: mark.start()], rest[mark.end() :]
    return rest, ""


def _asks(text: str) -> bool:
    if _REQUEST.match(text) is not None:
        return True
    return _PICTURE.search(text) is not None and _TOLD.search(text) is None


def _with_thing(found: Split, when: When) -> Split:
    """What is looked for again stands next to the words for the occasion."""
    start = occasion_at(found.occasion)
    if start is not None and says(found.occasion[:start]) and not _TOLD.search(found.occasion[:start]):
        return replace(found, when=when, thing=found.occasion[:start], occasion=found.occasion[start:])
    at = _last_thing(found.target)
    return replace(found, when=when, thing=found.target[at:], target=found.target[:at])


def _last_thing(target: str) -> int:
    """Where the words for the last thing or person begin."""
    wanted = understand(target).wanted
    if wanted and wanted[-1].kinds == (PERSON,):
        return max((found.start() for found in _PEOPLE.finditer(target)), default=0)
    articles = re.finditer(r"\b(?:the|that|my|our|a|an|same)\b", target, re.IGNORECASE)
    return max((found.start() for found in articles if understand(target[found.start() :]).wanted), default=0)


def _moved(text: str) -> Split | None:
    move = _MOVE.search(text)
    if move is None:
        return None
    marks = [0, *(mark.end() for mark in _BREAK.finditer(text)), len(text)]
    first = max(mark for mark in marks if mark <= move.start())
    last = min(mark for mark in marks if mark >= move.end())
    start = occasion_at(text[:last], first)
    cues = [*_BEFORE_MOVE.finditer(text, first, move.start())]
    starts = [start] if start is not None and start < move.start() else []
    starts += [cue.start() for cue in cues[-1:]]
    first = min(starts, default=move.start() if says(text[first : move.start()]) else first)
    return Split(f"{text[:first]} {text[last:]}", moved=_side_of(text[first:last], text))


def _side_of(clause: str, text: str) -> Side:
    for words in (clause, text):
        old, new = _OLD.search(words), _NEW.search(words)
        if old is not None or new is not None:
            return "before" if new is None or (old is not None and old.start() < new.start()) else "after"
    return "after"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is looked for: `target`, in, after, before or outside (`when`) an occasion, or by times and towns alone.

    `thing` is something that was at the occasion and is looked for again: the target holds it, marked `same`. `moved`
    is before or after the move to another home.
    """

    target: Meant
    occasion: ToldOccasion | None = None
    when: When = ""
    thing: Meant | None = None
    moved: Side = ""
    named: NamedTimes = field(default_factory=NamedTimes)

    @property
    def is_dated(self) -> bool:
        """Do the words themselves tell a time or a town?"""
        return self.named != NamedTimes()

    @property
    def not_understood(self) -> tuple[str, ...]:
        """Words that may be a condition, and stand for nothing that can be looked for."""
        told = self.target.unknown
        return tuple(dict.fromkeys(word for word in told if word not in _HARMLESS and not self.named.has(word)))


def read_search_request(text: str) -> SearchRequest:
    """What a request asks for, whatever order it says it in."""
    named, text = named_times(" ".join(text.split()))
    parts = split(text)
    occasion = read_occasion(parts.occasion) if parts.occasion else None
    if occasion is not None and parts.part:
        occasion = ToldOccasion("part", understand(parts.part), occasion, parts.side)
    target = _particular(understand(_ASIDE.sub(" ", parts.target)))
    if parts.moved:  # The towns are those that somebody moved between.
        named = replace(named, towns=(), not_towns=())
    errand = SearchRequest(target, moved=parts.moved, named=named)
    if occasion is None:
        return (
            errand if target.claims or parts.moved or not parts.occasion else replace(errand, target=understand(text))
        )
    thing = understand(parts.thing) if parts.thing else None
    if thing is not None and thing.wanted:
        again = Exists(Wanted(thing.wanted[-1].kinds, same=True))
        errand = replace(errand, target=Meant((*target.claims, again), target.unknown), thing=thing)
    elif not target.claims and occasion.how in ("first", "last") and occasion.about is not None:
        errand = replace(errand, target=occasion.about)
    return replace(errand, occasion=occasion, when=parts.when or "in")


def _particular(target: Meant) -> Meant:
    """Without "something" and "anything", which stand for the pictures themselves, where more is said."""
    claims = tuple(claim for claim in target.claims if not _is_anything(claim))
    return Meant(claims or target.claims, target.unknown)


def _is_anything(claim: Claim) -> bool:
    return isinstance(claim, Exists) and claim.wanted == Wanted(SCENE_KINDS)


def same_as(target: Meant, looks: tuple[Wanted, ...]) -> Meant:
    """The target with everything marked `same` replaced by how it looked at the anchor."""
    return Meant(tuple(_resolved(claim, looks) for claim in target.claims), target.unknown)


def _resolved(claim: Claim, looks: tuple[Wanted, ...]) -> Claim:
    match claim:
        case Exists(wanted):
            return replace(claim, wanted=_one(wanted, looks))
        case Related(subject, object=thing):
            return replace(claim, subject=_one(subject, looks), object=_one(thing, looks))
        case Either(options):
            return Either(tuple(replace(option, wanted=_one(option.wanted, looks)) for option in options))
        case _:
            return claim


def _one(wanted: Wanted, looks: tuple[Wanted, ...]) -> Wanted:
    if not wanted.same:
        return wanted
    return next((each for each in looks if set(each.kinds) & set(wanted.kinds)), replace(wanted, same=False))


def lasting(wanted: Wanted) -> Wanted:
    """What stays the same on other days: a coat does not."""
    return replace(wanted, colours=(), same=False) if wanted.kinds == (PERSON,) else replace(wanted, same=False)
