"""Questions about what a picture shows, and their short answers.

Of multiple-choice questions: the options in a text, the likeliest of them, and the form in which it is wanted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sightline.english import article, listed, number_word
from sightline_world.models.chat.answers import CANNOT, YES_NO, ShortAnswer, compare, named, narrowed, the_question
from sightline_world.models.chat.claims import Meant, Wanted, say_light, say_name, say_where
from sightline_world.models.chat.descriptions import caption, description, thinking
from sightline_world.models.chat.images import SeenImage
from sightline_world.models.chat.lexicon import ANIMALS, PERSON, Term, plain, scan
from sightline_world.models.chat.parser import read_terms, understand
from sightline_world.models.chat.verification import (
    Item,
    area,
    check_all,
    colour_of,
    describe,
    items_of,
    kind_of,
    matching,
)
from sightline_world.scene import SCENE_KINDS, Figure, Sign, Thing

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
_THE_PICTURE = re.compile(
    r"\b(?:picture|image|photo)s?\s+#?(\d+)\b|\b(first|second|third|fourth|fifth|last)\s+(?:picture|image|photo)\b"
)
_MORE = re.compile(r"\b(more|fewer|less|as many)\s+(.+?)\s+(?:than|as)\s+(.+)")
_LINE = re.compile(r"^[ \t]*[(\[]?([A-H])[)\].:][ \t]*(.*)$", re.MULTILINE)
_INLINE = re.compile(r"(?:(?<=\s)|^)\(?([A-H])[).:]\s+(.+?)(?=\s+\(?[A-H][).:]\s|$)", re.DOTALL)
_FORM = re.compile(
    r"(?:your option|the answer is|final answer|answer|option)\s*:\s*[<\[({\"']?\s*(?:[xX]\b|…|\.\.\.|letter|option|_)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+|\d+")


def answer(question: str, seen: Sequence[SeenImage]) -> ShortAnswer:
    """Answer from the pictures alone."""
    if not seen:
        return ShortAnswer("I see no picture.", 0.1, "There is no picture in the request.", known=False)
    words = " ".join(question.lower().split())
    chosen = _chosen(words, seen)
    if len(chosen) > 1:
        compared = compare(words, question, chosen)
        if compared is not None:
            return compared
    asked = _Asked(words, question, understand(question), chosen[0])
    for pattern, reply in _KINDS_OF_QUESTION:
        if pattern.search(words):
            found = _counted(asked, chosen) if reply is _count else reply(asked)
            if found is not None:
                return found
    return _yes_no(asked) if YES_NO.search(words) else _describe(asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    words: str
    text: str
    meant: Meant
    seen: SeenImage

    def target(self) -> list[Item]:
        """What the question is about: the first thing that it speaks of, narrowed by its relations."""
        wanted = self.meant.wanted
        return narrowed(wanted[0], self.meant, self.seen) if wanted else []

    def sure(self, items: Sequence[Item]) -> float:
        return min((self.seen.reading.sure.get(item.id, 0.5) for item in items), default=0.6)


def _chosen(words: str, seen: Sequence[SeenImage]) -> list[SeenImage]:
    """The pictures that the question means: one by its number, else all."""
    found = _THE_PICTURE.search(words)
    if found is None or "which" in words or len(seen) < 2:
        return list(seen)
    number = int(found[1]) - 1 if found[1] else _ORDINALS[found[2]]
    several = len(_THE_PICTURE.findall(words)) > 1
    return [seen[number]] if -len(seen) <= number < len(seen) and not several else list(seen)


# --- one picture -----------------------------------------------------------------------------------------------------


def _counted(asked: _Asked, chosen: Sequence[SeenImage]) -> ShortAnswer | None:
    each = [_count(_Asked(asked.words, asked.text, asked.meant, seen)) for seen in chosen]
    known = [found for found in each if found is not None]
    if len(known) != len(each) or not known:
        return None
    if len(known) == 1:
        return known[0]
    total = sum(int(found.text) for found in known)
    return ShortAnswer(str(total), min(found.sure for found in known), " ".join(found.why for found in known))


def _count(asked: _Asked) -> ShortAnswer | None:
    if not asked.meant.wanted:
        if re.search(r"\bcolou?rs\b", asked.words):
            colours = sorted({colour_of(item) for item in items_of(asked.seen.reading.graph)} - {""})
            return ShortAnswer(str(len(colours)), 0.5, f"Colours seen: {listed(colours)}.")
        return None
    found = asked.target()
    wanted = asked.meant.wanted[0]
    return ShortAnswer(str(len(found)), asked.sure(found), f"I count {len(found)} {say_name(wanted, len(found))}.")


def _colour(asked: _Asked) -> ShortAnswer | None:
    found = asked.target()
    if not found:
        return _missing(asked)
    values = list(dict.fromkeys(filter(None, (_colour_asked(asked.words, item) for item in found))))
    if not values:
        return ShortAnswer("none", asked.sure(found), f"I see {describe(found[0])}.")
    return ShortAnswer(listed(values), asked.sure(found), f"I see {listed(map(describe, found))}.")


def _colour_asked(words: str, item: Item) -> str:
    asked = re.split(r"colou?r", words, maxsplit=1)[-1]
    if isinstance(item, Figure):
        first = re.search(r"\b(hair|hat|cap|beanie|headgear|coat|jacket|clothes)\b", asked)
        part = first[1] if first else "coat"
        if part == "hair":
            return item.hair
        return colour_of(item) if part in ("coat", "jacket", "clothes") else item.headgear_colour or ""
    return colour_of(item)


def _written(asked: _Asked) -> ShortAnswer | None:
    signs = [item for item in asked.target() if isinstance(item, Sign)] or list(asked.seen.reading.graph.signs)
    if not signs:
        return ShortAnswer("There is no sign that I can see", 0.6, "No sign is seen.")
    words = [sign.words for sign in signs if sign.words]
    if not words:
        return ShortAnswer("I can't read it", 0.3, "A sign is seen, but its letters can't be made out.", known=False)
    return ShortAnswer(listed(words), asked.sure(signs), f"I see {listed(map(describe, signs))}.")


def _where(asked: _Asked) -> ShortAnswer | None:
    graph, found = asked.seen.reading.graph, asked.target()
    if not asked.meant.wanted:
        return _place(asked)
    if not found:
        return _missing(asked)
    item = max(found, key=area)
    across = (item.box.left + item.box.right) / 2
    side = "on the left" if across < 0.4 else "on the right" if across > 0.6 else "in the middle"
    names = {each.id: each for each in items_of(graph)}
    near = [
        f"{relation.predicate} {named(names[relation.object])}"
        for relation in graph.relations
        if relation.subject == item.id and relation.predicate != "left of" and relation.object in names
    ]
    return ShortAnswer(", ".join([side, *near[:1]]), asked.sure([item]), f"I see {describe(item)} {side}.")


def _place(asked: _Asked) -> ShortAnswer | None:
    graph = asked.seen.reading.graph
    return ShortAnswer(graph.place, asked.seen.reading.place, f"It looks like {say_where(graph.place)}.")


def _light(asked: _Asked) -> ShortAnswer | None:
    graph = asked.seen.reading.graph
    return ShortAnswer(graph.light, asked.seen.reading.light, f"It looks like {say_light(graph.light)}.")


def _partner(asked: _Asked) -> ShortAnswer | None:
    """`what is the man holding`, `what is on the bench`, `who is behind the car`."""
    asked_for = re.match(r"(?:and )?(?:what|which) (\w+)", asked.words)
    if asked_for is not None and asked_for[1] in asked.meant.unknown:
        return ShortAnswer(CANNOT, 0.1, f"I don't know what a {asked_for[1]} looks like.", known=False)
    terms = scan(asked.text)
    at = next((number for number, term in enumerate(terms) if term.sort == "predicate"), None)
    if at is None:
        return None
    predicate, inverted = terms[at].values
    before = _before(terms[:at])
    after = read_terms(terms[at + 1 :]).wanted
    if before and not after:
        return _other_side(asked, before[0], predicate, not inverted)
    if after:
        return _other_side(asked, after[0], predicate, bool(inverted), (PERSON,) if "who" in asked.words else None)
    return None


def _before(terms: Sequence[Term]) -> tuple[Wanted, ...]:
    """What is spoken of before the relation; "what" and "which animal" ask, and name nothing."""
    wanted = read_terms(terms).wanted
    return tuple(each for each in wanted if each.kinds not in (SCENE_KINDS, ANIMALS))


def _other_side(
    asked: _Asked, wanted: Wanted, predicate: str, subject_known: bool, kinds: tuple[str, ...] | None = None
) -> ShortAnswer | None:
    graph = asked.seen.reading.graph
    mine = {item.id for item in matching(wanted, graph)}
    if not mine:
        return _missing(asked)
    names = {item.id: item for item in items_of(graph)}
    found = {
        (r.object if subject_known else r.subject)
        for r in graph.relations
        if r.predicate == predicate and (r.subject if subject_known else r.object) in mine
    }
    items = [
        names[name] for name in sorted(found) if name in names and (kinds is None or kind_of(names[name]) in kinds)
    ]
    if not items:
        return ShortAnswer("nothing that I can see", 0.5, f"No such relation to {say_name(wanted, 1)} is seen.")
    return ShortAnswer(listed(map(named, items)), asked.sure(items) * 0.9, f"I see {listed(map(describe, items))}.")


def _held(asked: _Asked) -> ShortAnswer | None:
    """`what does the man have in his hand`: by the person that is spoken of, however it is asked."""
    people = [wanted for wanted in asked.meant.wanted if wanted.kinds == (PERSON,)]
    things = [wanted for wanted in asked.meant.wanted if wanted.kinds != (PERSON,)]
    if not people or any(wanted.kinds != SCENE_KINDS for wanted in things) or "who" in asked.words.split():
        return None
    return _other_side(asked, people[0], "holding", True)


def _which_kinds(asked: _Asked) -> ShortAnswer | None:
    groups = [wanted for wanted in asked.meant.wanted if len(wanted.kinds) > 1]
    if not groups:
        return None
    found = narrowed(groups[0], asked.meant, asked.seen)
    if not found:
        return _missing(asked)
    counts = Counter(kind_of(item) for item in sorted(found, key=area, reverse=True))
    return ShortAnswer(listed(counts), asked.sure(found), f"I see {listed(map(describe, found))}.")


def _wearing(asked: _Asked) -> ShortAnswer | None:
    people = [item for item in asked.target() if isinstance(item, Figure)]
    if not people:
        return _missing(asked)
    one = people[0]
    gear = f"{one.headgear_colour or ''} {one.headgear}".strip()
    head = "" if one.headgear == "none" else f" and {article(gear)} {gear}"
    if re.search(r"\bhead\b|headgear", asked.words):
        return ShortAnswer(head.removeprefix(" and ") or "nothing", asked.sure([one]), f"I see {describe(one)}.")
    return ShortAnswer(
        f"{article(one.coat or 'coat')} {one.coat} coat{head}", asked.sure([one]), f"I see {describe(one)}."
    )


def _hair(asked: _Asked) -> ShortAnswer | None:
    people = [item for item in asked.target() if isinstance(item, Figure)]
    return ShortAnswer(people[0].hair, asked.sure(people[:1]), f"I see {describe(people[0])}.") if people else None


def _size(asked: _Asked) -> ShortAnswer | None:
    things = [item for item in asked.target() if isinstance(item, Thing)]
    return ShortAnswer(things[0].size, asked.sure(things[:1]), f"I see {describe(things[0])}.") if things else None


def _more(asked: _Asked) -> ShortAnswer | None:
    found = _MORE.search(asked.words)
    first, second = (understand(found[2]).wanted, understand(found[3]).wanted) if found else ((), ())
    if found is None or not first or not second:
        return None
    counts = [len(matching(wanted[0], asked.seen.reading.graph)) for wanted in (first, second)]
    holds = {"more": counts[0] > counts[1], "as many": counts[0] == counts[1]}.get(found[1], counts[0] < counts[1])
    why = f"I count {counts[0]} {say_name(first[0], counts[0])} and {counts[1]} {say_name(second[0], counts[1])}."
    return ShortAnswer("yes" if holds else "no", 0.7, why)


def _yes_no(asked: _Asked) -> ShortAnswer:
    judged = check_all(asked.meant, asked.seen.reading)
    if not judged.verdicts:
        return ShortAnswer(CANNOT, 0.1, judged.reason, known=False)
    return ShortAnswer("yes" if judged.holds else "no", judged.sure, judged.reason)


def _describe(asked: _Asked) -> ShortAnswer:
    graph = asked.seen.reading.graph
    short = re.search(r"\b(caption|title|short|briefly|one sentence|in a sentence|summar)", asked.words)
    if re.search(
        r"\b(describ|caption|summar|what (?:do|can) (?:you|we) see|what is (?:in|shown)|tell me about|what does)",
        asked.words,
    ):
        return ShortAnswer(caption(graph) if short else description(graph), 0.7, thinking(asked.seen.reading))
    if asked.meant.claims and not re.match(r"(who|when|why|how|what|which|where)\b", asked.words):
        return _yes_no(asked)
    if re.match(r"(who|when|why|how|what|which)\b", asked.words):
        return ShortAnswer(CANNOT, 0.1, "The question is none that I know how to answer.", known=False)
    return ShortAnswer(description(graph), 0.7, thinking(asked.seen.reading))


def _missing(asked: _Asked) -> ShortAnswer:
    wanted = asked.meant.wanted
    if not wanted:
        return ShortAnswer("I don't see what you ask about", 0.3, "Nothing that I know is asked about.", known=False)
    what = say_name(wanted[0], 1)
    return ShortAnswer(f"I see no {what}", 0.5, f"No {what} is seen.")


_KINDS_OF_QUESTION: tuple[tuple[re.Pattern[str], Callable[[_Asked], ShortAnswer | None]], ...] = tuple(
    (re.compile(pattern), reply)
    for pattern, reply in (
        (r"\b(?:more|fewer|less|as many)\b.+\b(?:than|as)\b", _more),
        (r"\bhow many\b|\bnumber\b|\bcount\b|\btally\b|\bquantity\b|\bhow large a\b|\bin total\b", _count),
        (r"\b(?:what|which) colou?r|\bcolou?r of\b|\bwhat is the colou?r\b", _colour),
        (
            r"\b(?:what|which).*\b(?:say|says|written|read|reads|spell|words? (?:is|are|on|stands?))\b|\bread\b"
            r"|\bwhat name\b|\b(?:wording|inscription|lettering|text|letters|words?|writing)\b.*\b(?:sign|board|plate)"
            r"|\b(?:sign|board|plate)\b.*\b(?:say|says|written|read|reads|wording|inscription|text|letters|words?)\b",
            _written,
        ),
        (r"\bhands?\b|\bhold(?:s|ing)?\b|\bheld\b|\bcarr(?:y|ies|ied|ying)\b|\bclutch|\bgrip", _held),
        (r"\bwhere (?:is|are|was|were|do|does|did)\b|\bin which part\b", _where),
        (r"\b(?:what|which) (?:kind of |sort of |type of )?(?:place|location|scene|setting|surroundings)\b", _place),
        (r"\bweather\b|\btime of day\b|\b(?:what|which) light\b|\blighting\b", _light),
        (r"^(?:what|who|which)\b.*\b(?:wearing|dressed|wear)\b", _wearing),
        (r"\bwhat (?:kind of )?hair\b|\bhair colou?r\b", _hair),
        (r"\bhow (?:big|large|small)\b|\b(?:what|which) size\b", _size),
        (r"^(?:and )?(?:what|who|which)\b", _partner),
        (r"\b(?:what|which)\b", _which_kinds),
    )
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """An option, and why; `guess` says that nothing that was seen speaks for it."""

    key: str
    sure: float
    why: str
    guess: bool = False


def options_in(text: str) -> dict[str, str]:
    """Options by their letter, where a text has at least two that follow each other from A on."""
    for pattern in (_LINE, _INLINE):
        found: dict[str, str] = {}
        for key, words in pattern.findall(text):
            if key == chr(ord("A") + len(found)):
                found[key] = words.strip()
        if len(found) > 1:
            return found
    return {}


def choose(text: str, options: Mapping[str, str], seen: Sequence[SeenImage]) -> Chosen:
    """The option that fits what is seen."""
    stem = text[: _start(text)]
    said = answer(the_question(stem) or stem, seen)
    scores = {key: _likeness(said, words) for key, words in options.items()}
    best = max(scores, key=lambda key: (scores[key], -ord(key)))
    if said.known and scores[best] >= 0.5:
        return Chosen(best, said.sure, f"{said.why} That is option {best}.")
    shown = {key: _shown(words, seen) for key, words in options.items()}
    best = max(shown, key=lambda key: (shown[key], -ord(key)))
    if shown[best] > 0 and sum(score == shown[best] for score in shown.values()) == 1:
        return Chosen(best, 0.5, f"What I see fits option {best} best: {options[best]}.")
    return Chosen(
        best, 1 / len(options), f"{said.why} Nothing decides between the options, so {best} is a guess.", True
    )


def in_form(text: str, key: str) -> str:
    """The letter as the request wants it: alone, or after the words that it gives."""
    found = _FORM.search(text)
    if found is None:
        return key
    lead = found[0].split(":")[0].strip()
    return f"{lead}: {key}"


def _start(text: str) -> int:
    found = _LINE.search(text) or _INLINE.search(text)
    return found.start() if found and found.start() > 0 else len(text)


def _likeness(said: ShortAnswer, option: str) -> float:
    """How much of an option the short answer says: 1 when they are the same words."""
    mine, other = _words(said.text), _words(option)
    if not mine or not other:
        return 0.0
    if mine == other:
        return 1.0
    return len(mine & other) / len(mine | other)


def _words(text: str) -> set[str]:
    words = _WORD.findall(plain(text))
    return {number_word(int(word)) if word.isdigit() and len(word) < 3 else word for word in words} - {"a", "an", "the"}


def _shown(option: str, seen: Sequence[SeenImage]) -> float:
    meant = understand(option)
    return max((check_all(meant, each.reading).share for each in seen), default=0.0) if meant.claims else 0.0
