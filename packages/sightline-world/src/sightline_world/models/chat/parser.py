"""A text → claims: slots are filled from left to right, whatever frame of a sentence they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sightline_world.models.chat.claims import MANY, At, Claim, Either, Exists, Lit, Meant, Related, Wanted
from sightline_world.models.chat.lexicon import HAIR_OF_COLOUR, PERSON, SIGN, Sort, Term, scan

_NOUNS: frozenset[Sort] = frozenset(("kind", "headgear", "hair noun", "coat", "part"))
_NOBODY = frozenset(("nobody", "no one", "deserted", "unpeopled", "devoid of people", "empty of people", "people free"))
_NO = frozenset(("no", "there is no", "without"))
_BETWEEN: frozenset[Sort] = frozenset(("colour", "size", "hair", "unknown", "stop"))
_BEFORE_NOUN = frozenset(("old", "new", "nice", "beautiful", "pretty", "lovely", "one"))
_SMALL_TALK = 3
"""Shorter words that nobody knows are not worth a remark."""


def understand(text: str) -> Meant:
    """What the text says of a picture."""
    return read_terms(scan(text))


def read_terms(terms: Sequence[Term]) -> Meant:
    """The same, for terms at hand."""
    return _Parser(terms).parse()


@dataclass(slots=True)
class _Modifiers:
    """What was said before its noun."""

    colours: list[str] = field(default_factory=list)
    other_than: list[str] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    hair: list[str] = field(default_factory=list)
    headgear: list[str] = field(default_factory=list)
    words: str = ""
    number: int | None = None
    bound: str = ""
    negated: bool = False
    carried: bool = False
    same: bool = False


@dataclass(slots=True)
class _Mention:
    """A thing that the text speaks of, as far as it has been read."""

    kinds: tuple[str, ...]
    low: int = 1
    high: int = MANY
    colours: list[str] = field(default_factory=list)
    other_than: list[str] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    hair: list[str] = field(default_factory=list)
    headgear: list[str] = field(default_factory=list)
    headgear_colours: list[str] = field(default_factory=list)
    words: str = ""
    same: bool = False
    region: str = ""
    after_or: bool = False
    implied: bool = False

    @property
    def is_person(self) -> bool:
        return self.kinds == (PERSON,)

    def wanted(self) -> Wanted:
        return Wanted(
            self.kinds,
            tuple(self.colours),
            tuple(self.other_than),
            tuple(self.sizes),
            tuple(self.hair),
            tuple(self.headgear),
            tuple(self.headgear_colours),
            self.words,
            self.same,
        )


class _Parser:
    """Reads terms one after the other; `pending` waits for its noun, `relation` for its object."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = terms
        self._at = 0
        self._mentions: list[_Mention] = []
        self._relations: list[tuple[_Mention, str, _Mention, bool]] = []
        self._whole: list[Claim] = []
        self._pending = _Modifiers()
        self._relation: tuple[_Mention, str, bool, bool] | None = None
        self._or = False
        self._elided: list[_Modifiers] = []
        self._unknown: list[str] = []

    def parse(self) -> Meant:
        for at, term in enumerate(self._terms):
            self._at = at
            self._take(term)
        if self._pending.colours and self._mentions:
            self._give_colours(self._mentions[-1])
        return Meant(self._claims(), tuple(dict.fromkeys(self._unknown)))

    def _take(self, term: Term) -> None:
        if self._at and self._terms[self._at - 1].sort == "same" and term.sort in ("stop", "unknown"):
            self._pending.same = term.text in _BEFORE_NOUN  # "The same day as a kite" says nothing of the kite.
        match term.sort:
            case "kind":
                self._mention(term)
            case "colour":
                self._colour(term)
            case "size":
                self._pending.sizes.extend(term.values)
            case "number":
                self._number(term)
            case "bound":
                self._pending.bound = term.values[0]
            case "hair" | "hair noun" | "headgear" | "coat" | "part":
                self._looks(term)
            case "place" | "light":
                self._where(term)
            case "predicate":
                self._predicate(term)
            case "words":
                self._words(term.values[0])
            case "region":
                if self._mentions:
                    self._mentions[-1].region = term.values[0]
            case "not":
                self._pending.negated, self._pending.carried = True, False
                if term.text in _NOBODY:
                    self._mention(Term("kind", (PERSON,), term.text, term.at))
            case "and" | "or":
                self._or = term.sort == "or"
                self._pending.carried = self._pending.negated
            case "article":
                if self._pending.colours and self._at and self._terms[self._at - 1].sort == "and":
                    self._elide()
                if self._pending.carried and not self._or:
                    self._pending.negated = False
            case "same":
                self._pending.same = True
            case "break":
                self._pending, self._relation, self._or, self._elided = _Modifiers(), None, False, []
            case "link":
                if term.text in ("with", "wearing", "has", "have", "having") and self._pending.carried:
                    self._pending.negated = False
            case "unknown":
                if len(term.text) > _SMALL_TALK:
                    self._unknown.append(term.text)
            case _:
                return

    # --- things ----------------------------------------------------------------------------------------------------

    def _elide(self) -> None:
        """`three red and two blue kites`: the first words wait for the noun of the second."""
        self._elided.append(self._pending)
        self._pending = _Modifiers()

    def _mention(self, term: Term) -> None:
        if self._is_owner(term):
            return
        for pending in (*self._elided, self._pending):
            self._add_mention(term, pending)
        self._elided = []

    def _is_owner(self, term: Term) -> bool:
        """`the hat of the man`: the man is whoever the hat was told of."""
        before = [each for each in self._terms[: self._at] if each.sort != "article"][-1:]
        last = self._mentions[-1] if self._mentions else None
        owns = bool(before) and before[0].text in ("of", "on", "worn by")
        return owns and term.values == (PERSON,) and last is not None and last.implied

    def _add_mention(self, term: Term, pending: _Modifiers) -> None:
        made = _Mention(
            term.values,
            colours=pending.colours,
            other_than=pending.other_than,
            sizes=pending.sizes,
            hair=pending.hair,
            headgear=pending.headgear,
            words=pending.words,
            same=pending.same,
            after_or=self._or and not pending.negated,
        )
        if pending.number is not None or pending.bound:
            made.low, made.high = _range(pending.number, pending.bound)
        if pending.negated:
            made.low, made.high = (0, made.low - 1) if made.low > 1 else (0, 0)
        self._mentions.append(made)
        self._relate(made)
        # Negation goes on over "or": "no dog or cat".
        self._pending = _Modifiers(negated=pending.negated and self._joined(), carried=pending.negated)
        self._or = False

    def _joined(self) -> bool:
        after = self._terms[self._at + 1] if self._at + 1 < len(self._terms) else None
        return after is not None and (after.sort in ("and", "or") or after.text == ",")

    def _colour(self, term: Term) -> None:
        before = self._terms[self._at - 1] if self._at else None
        if self._pending.negated and before is not None and before.sort == "not" and not self._no_such(before):
            self._not_coloured(term)
        else:
            self._pending.colours.extend(term.values)
            if not self._noun_follows() and self._mentions:
                self._give_colours(self._mentions[-1])

    def _no_such(self, before: Term) -> bool:
        """`no red kite`: it is the kite that is not there, whatever other kites are."""
        ahead = (term.sort for term in self._terms[self._at + 1 :] if term.sort not in _BETWEEN)
        return before.text in _NO and next(ahead, None) == "kind"

    def _not_coloured(self, term: Term) -> None:
        """`that is not red`, `not a red one`."""
        self._pending.negated = False
        if self._noun_follows() or not self._mentions:
            self._pending.other_than.extend(term.values)
        else:
            self._mentions[-1].other_than.extend(term.values)

    def _give_colours(self, mention: _Mention) -> None:
        mention.colours.extend(self._pending.colours)
        self._pending.colours = []

    def _noun_follows(self) -> bool:
        """Is there a noun ahead that the words just read may belong to?"""
        ahead = self._terms[self._at + 1 :]
        for at, term in enumerate(ahead):
            if term.sort in _NOUNS or (term.sort == "words" and self._is_sign_ahead(term)):
                return True
            # "red and blue kites", but not "in red and two kites".
            joins = term.sort in ("and", "or") and at + 1 < len(ahead) and ahead[at + 1].sort in ("colour", "size")
            if (term.sort not in _BETWEEN and not joins) or term.text == ",":
                return False
        return False

    def _is_sign_ahead(self, term: Term) -> bool:
        after = [each for each in self._terms if each.at > term.at][:1]
        return bool(after) and after[0].values == (SIGN,)

    def _number(self, term: Term) -> None:
        if term.text == "one" and not self._noun_follows():
            return
        if self._pending.number is not None and self._pending.colours:
            self._elide()
        self._pending.number = int(term.values[0])
        if len(term.values) > 1:
            self._pending.bound = term.values[1]

    # --- people and signs ------------------------------------------------------------------------------------------

    def _looks(self, term: Term) -> None:
        if term.sort == "part":
            if self._mentions:
                self._give_colours(self._mentions[-1])
            return
        if term.sort in ("hair", "hair noun") and self._person_follows():
            self._pending.hair.extend(term.values or _hair(self._pending.colours))
            self._pending.colours = [] if term.sort == "hair noun" else self._pending.colours
            return
        if term.sort == "headgear" and term.values == ("none",) and self._person_follows():
            self._pending.headgear.extend(term.values)
            return
        person = self._person()
        colours, negated = self._pending.colours, self._pending.negated
        match term.sort:
            case "hair":
                person.hair.extend(term.values)
                return
            case "hair noun":
                person.hair.extend(_hair(colours))
            case "coat":
                person.colours.extend(colours)
            case _:
                person.headgear.extend(("none",) if negated and not colours else term.values)
                person.headgear_colours.extend(colours)
        self._pending.colours = []
        self._pending.negated = False

    def _person_follows(self) -> bool:
        for term in self._terms[self._at + 1 : self._at + 4]:
            if term.sort == "kind":
                return term.values == (PERSON,)
            if term.sort not in _BETWEEN:
                return False
        return False

    def _person(self) -> _Mention:
        """The person that looks are told of: the last thing spoken of, or one that was not mentioned yet."""
        if self._mentions and self._mentions[-1].is_person:
            return self._mentions[-1]
        made = _Mention((PERSON,), same=self._pending.same, implied=True)
        self._pending.same = False
        self._mentions.append(made)
        self._relate(made)
        return made

    def _words(self, words: str) -> None:
        after = self._terms[self._at + 1 : self._at + 2]
        if after and after[0].values == (SIGN,):
            self._pending.words = words
            return
        if self._mentions and self._mentions[-1].kinds == (SIGN,) and not self._mentions[-1].words:
            self._mentions[-1].words = words
            return
        made = _Mention((SIGN,), words=words)
        if self._pending.negated:
            made.low = made.high = 0
        self._pending = _Modifiers()
        self._mentions.append(made)
        self._relate(made)

    # --- the whole picture, and relations --------------------------------------------------------------------------

    def _where(self, term: Term) -> None:
        after = self._terms[self._at + 1 : self._at + 2]
        self._relation = None
        negated, self._pending.negated = self._pending.negated, False
        if term.text == "snowy" and after and after[0].sort == "place":
            self._whole.append(Lit(("snowfall",), negated))
        elif term.sort == "light":
            self._add_whole(Lit(term.values, negated))
        else:
            self._add_whole(At(term.values, negated))

    def _add_whole(self, claim: At | Lit) -> None:
        """`at a beach or a lake` widens the last claim; `by the sea, on a beach` says the same thing twice."""
        last = self._whole[-1] if self._whole else None
        if self._or and isinstance(claim, At) and isinstance(last, At) and not claim.negated:
            self._whole[-1] = At((*last.places, *claim.places), last.negated)
        elif self._or and isinstance(claim, Lit) and isinstance(last, Lit) and not claim.negated:
            self._whole[-1] = Lit((*last.lights, *claim.lights), last.negated)
        elif claim not in self._whole:
            self._whole.append(claim)
        self._or = False

    def _predicate(self, term: Term) -> None:
        if self._mentions:
            predicate, inverted = term.values
            self._relation = (self._mentions[-1], predicate, bool(inverted), self._pending.negated)
            self._pending.negated = False

    def _relate(self, mention: _Mention) -> None:
        if self._relation is None:
            return
        subject, predicate, inverted, negated = self._relation
        self._relation = None
        if predicate == "holding" and not inverted and not subject.is_person:
            return
        pair = (mention, subject) if inverted else (subject, mention)
        self._relations.append((pair[0], predicate, pair[1], negated))

    def _claims(self) -> tuple[Claim, ...]:
        claims: list[Claim] = []
        for mention in self._mentions:
            claim = Exists(mention.wanted(), mention.low, mention.high, mention.region)
            if mention.after_or and claims and isinstance(claims[-1], Exists | Either):
                before = claims.pop()
                options = before.options if isinstance(before, Either) else (before,)
                claims.append(Either((*options, claim)))
            elif claim not in claims:
                claims.append(claim)
        related = [
            Related(subject.wanted(), predicate, thing.wanted(), negated)
            for subject, predicate, thing, negated in self._relations
            if subject.high and thing.high
        ]
        return (*claims, *related, *self._whole)


def _range(number: int | None, bound: str) -> tuple[int, int]:
    if number is None:
        return 1, MANY
    match bound:
        case ">=":
            return number, MANY
        case ">":
            return number + 1, MANY
        case "<=":
            return 0, number
        case "<":
            return 0, max(0, number - 1)
        case _:
            return number, number


def _hair(colours: Sequence[str]) -> list[str]:
    return [hair for colour in colours for hair in HAIR_OF_COLOUR.get(colour, ())]
