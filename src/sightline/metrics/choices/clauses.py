"""What each clause of a reply does with the options that it names: it asserts, denies, supposes or wavers.

Only clauses that assert say which option is chosen; the readers of keys and texts are given these alone.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sightline.metrics.answers.reply import takes_back
from sightline.metrics.choices.languages import COPULA, FLAGS, OR
from sightline.metrics.choices.options import KeyedOption

_FIRST_SIGN, _MOST_LISTS = 0xE000, 6_000
_KEYS = "[\ue000-\uf8ff]"
"""One sign of the private use area stands for each list of keys, so that a list is no longer cut at its commas."""
_LONGEST_LEAD = 30
_NEAR_THE_END = 8
_LEFT_OUT = "⋯"
_AND = rf"""{OR}|(?:first\s*,?\s*then|and|or|nor|und|oder|noch|et|ou|comme|como|als\s+auch|ni|y|e|nem|o|né|и|или|або)\b
    |和|与|或者?|と|や|와|과|[/&+]"""
_ITS = r"(?:is|has|does|shows|looks|was|isn't|doesn't|ist|est|es|é|è)\b"
_NOUN = r"""(?i:(?:options?|choices?|answers?|pictures?|images?|letters?|вариант\w*|opci\w+|opç\w+|opzion\w+)\s*
    |选项|選択肢|선택지\s*)"""
_IT_IS = rf"it\s+is\b|{COPULA}|です|を選|번?\s*(?:[을를로]?\s*선택|이?라고\s*생각|일\s*것)"
_INSIDE = re.compile(r"[^\W\dA-Z_],?[ ]$")
"""What stands before a capital A that is no article, since it begins no sentence."""
_ARTICLES = frozenset({"A", "a", "I", "i"})
_SENTENCE = re.compile(r"(?:[.!?…]+[\"')\]]*(?=\s|$)|[。！？；;]|\n)\s*")
_ENUMERATES = re.compile(rf"\W*{_KEYS}[.]\s*")
_WEAK_WORDS = "not n't too no never nicht pas ne não non не muy demasiado muito troppo trop слишком 太 너무 すぎ"
_WEAK = frozenset(_WEAK_WORDS.split())
_BACK = re.compile(
    r"""^\W*(?:(?:but|wait|no|however|and|actually|which|aber|doch|mais|pero|mas|ma|но)\b\W*)*
    (?:(?:it|that|this|they|es|das|er|sie|ça|cela|il|elle|c['’]|eso|esto|isso|ele|ela|ciò|это|он|она)\b|那|这|它|それ|これ|그)
    |^\W*but\s+(?=wrong|incorrect|false|not)|^\W*which\b""",
    FLAGS,
)
"""What a clause without a key opens with where it speaks of the option that was named last."""
_BUT = re.compile(
    r"""^\W*(?:but|however|yet|still|aber|sondern|jedoch|doch|entscheide|mais|cependant|pero|sino|mas|ma|però|но|однако|а|now|jetzt|maintenant|ahora|agora|ora|теперь|whereas)\b
    | ^\W*(?:但|不过|然而|而是|最后|现在|今は|이제|しかし|でも|하지만|그러나)""",
    FLAGS,
)
_ALSO = re.compile(r"\b(?:also|too|auch|aussi|también|também|anche|и|тоже|possible)\b|也|も|도", re.IGNORECASE)
_YES = re.compile(r"\W*(?:yes|yep|exactly|ja|oui|sí|sim|sì|да|はい|네|是的|对)", re.IGNORECASE)
_BETTER = re.compile(r"\b(?:better|closer|besser|mieux|mejor|melhor|meglio|лучше)\b|ほうが|더\b|更", re.IGNORECASE)
_REASON = re.compile(
    r"""\W*(?:(?:because|since|as|for|given|weil|denn|da|car|parce|puisque|porque|ya\s+que|pois|perché|потому|так\s+как)\b
    |因为|由于)""",
    FLAGS,
)
_SURELY = re.compile(
    r"""\b(?:without\s+(?:a\s+|any\s+)?(?:doubt|question)|no\s+(?:doubt|question)(?:\s+about\s+it)?|beyond\s+doubt|ohne\s+zweifel|zweifellos
    |sans\s+(?:aucun\s+)?doute|sin\s+duda|sem\s+dúvida|senza\s+dubbio|без\s+сомнения|(?:none|neither)\s+of\s+the\s+others?|nothing\s+else)\b
    |毫无疑问|无疑|間違いなく|틀림없이""",
    FLAGS,
)
"""Words of denial that deny no option."""
_SO_IS = re.compile(r"\W*(?:and\s+)?so\s+(?:is|are|does|do)\b", re.IGNORECASE)


class Stance(Enum):
    """What a clause does with the options that it names."""

    ASSERTS = "asserts"
    DENIES = "denies"
    SUPPOSES = "supposes"
    WAVERS = "wavers"


class Clause(NamedTuple):
    """A piece of a reply up to the next; its signs stand for lists of keys.

    `refuted`: denied beyond doubt; `concluded`: ended with.
    """

    text: str
    stance: Stance
    named: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    refuted: frozenset[str] = frozenset()
    concluded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ReadClauses:
    """A reply as its clauses put it."""

    asserted: str
    """Without clauses that deny, suppose or waver."""
    wavering: str
    """The same, with those that waver."""
    refuted: frozenset[str]
    """Keys that are denied beyond doubt, and not asserted afterwards."""
    denied: frozenset[str]
    """Keys that any clause denies."""
    concluded: frozenset[str]
    """Keys that clauses end with, as "it is B" does; none of those that only speak about an option."""
    supported: frozenset[str]
    """These, and those that clauses say something about that is no denial: "B fits"."""
    last: frozenset[str]
    """What the last clause that names a key concludes."""
    committed: frozenset[str]
    """The one key that the last clause with a key asserts, where all others are denied, supposed or taken back."""


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    """The words of all languages as patterns over a text whose lists of keys are signs."""
    table = tomllib.loads(Path(__file__).with_name("clauses.toml").read_text("utf-8"))
    names = dict.fromkeys(name for language in table.values() for name in language)
    words = {name: "|".join(words[name] for words in table.values() if name in words) for name in names}
    than = re.sub(r"\(\?<=.*?\)", "", words["than"])
    right = r"\b(?:right|correct|richtig|korrekt)\b"
    parts = {
        "boundary": rf"""[,，、](?!\d|\s*(?:that|dass|que|qu['’]|che|что)\b)\s* | \s+(?={words["but"]}|[(（])
            | (?<=[\u3040-\u9fff\ue000-\uf8ff])(?=[\u3040-\u9fff])(?={words["but"]})
            | \s+(?=(?:{words["than"]})\s*{_KEYS}) | (?<={_KEYS})(?=比) | (?<=[:：])\s*(?={_KEYS}\W*$)
            | \s*[–—-]\s*(?={words["denies"]}) | (?<={_KEYS})\s+(?=(?:not|over)\s+{_KEYS})
            | (?<=not\ {_KEYS})\s*[:：]\s* | (?:{words["after"]})""",
        "denies": rf"^(?:{than})\s*{_KEYS}|(?:{words['denies']})[^:：\ue000-\uf8ff]{{0,30}}?{_KEYS}",
        "denied": rf"""{_KEYS}[.]?(?:\s*(?:[:：→]|[–—-]\s)\s*|\s*(?={words["verb"]}|{words["wrong"]}))
            (?:(?!{_KEYS}|{right}).){{0,40}}?(?P<wrong>{words["wrong"]})""",
        "except": rf"(?:{words['except']})\s*(?:\w+\s+)?(?P<behind>{_KEYS})|(?P<before>{_KEYS})\s*"
        rf"(?:{words['except']})",
        "supposes": rf"^\W*(?:{words['supposes']})|\b(?:whether|if\s+(?!i\b|you\b))",
        "noun": rf"""\s+(?!{words["verb"]}|{words["wrong"]}|{_AND}|{words["except"]}|(?:by|over|if|then)\b|it\s+is\b)
            (?-i:[a-zà-ÿ])""",
        "i": r"\s+[a-z]",
        "but_after": rf"(?:{words['after']})\W*$",
        "chosen": rf"(?:^|[:：—–]|{words['asserts']})(?:\s+\w+ly)?[\s\"'“(]*$",
        "it_is": rf"\s*(?:{_IT_IS})",
        "subject": rf"{_KEYS}\s+(?:{words['verb']})",
        "wrong": words["wrong"],
        "before": words["before"],
        "wavers": words["wavers"],
        "negative": words["negative"],
    }
    return {name: re.compile(part, FLAGS) for name, part in parts.items()}


class ClauseReader:
    """Tells apart what the clauses of a reply do with one set of options; `key` is the pattern of a key."""

    def __init__(self, key: str, options: Sequence[KeyedOption]) -> None:
        one = rf"{_NOUN}?[(\[]?{key}[)\]]?"
        its = rf"(?!{one}\s+{_ITS})"
        comma, and_ = rf"\s*[,，、]\s*{its}", rf"\s*(?:[,，、]\s*(?i:{_AND})\s*{its}|(?i:{_AND})\s*)"
        # After "B and C" a comma begins something new: "After striking out A, B and C, D stands."
        self._lists = re.compile(rf"{one}(?:{comma}{one})*(?:{and_}{one})*", re.VERBOSE)
        self._key = re.compile(key)
        self._options = options
        self._said = _patterns()

    def read(self, text: str) -> ReadClauses:
        """What is left of a reply without the clauses that do not assert, and which keys are denied."""
        lists: list[str] = []
        text = _SURELY.sub(" ", re.sub(_KEYS, " ", text))
        signs = self._lists.sub(lambda found: self._sign(found, lists), text)
        clauses = self._corrected(self._conceded(list(self._clauses(signs, lists))), lists)
        refuted: frozenset[str] = frozenset()
        last: frozenset[str] = frozenset()
        for clause in clauses:
            if clause.stance is Stance.ASSERTS:
                refuted -= clause.named
            refuted |= last if not clause.named and self._is_back(clause.text) else clause.refuted
            last = clause.named or last
        clauses = [clause._replace(concluded=self._concluded(clause, lists)) for clause in clauses]
        asserting = [clause for clause in clauses if clause.stance is Stance.ASSERTS]
        standing = [clause for clause in clauses if clause.stance in (Stance.ASSERTS, Stance.WAVERS)]
        subjects = (found for clause in clauses if clause.named for found in self._said["subject"].findall(clause.text))
        supported = _union([*(c.concluded for c in standing), *(self._named(found, lists) for found in subjects)])
        left_open = _union(clause.named - clause.denied for clause in standing)
        ends = [clause for clause in clauses if clause.named][-1:]
        return ReadClauses(
            _joined(clauses, lists, Stance.ASSERTS),
            _joined(clauses, lists, Stance.ASSERTS, Stance.WAVERS),
            refuted,
            _union(clause.denied for clause in clauses),
            _narrowed([clause.concluded for clause in asserting]),
            supported if len(left_open) == 1 else frozenset(),
            _union(clause.concluded for clause in ends if clause.stance is Stance.ASSERTS),
            self._committed(clauses),
        )

    def _committed(self, clauses: Sequence[Clause]) -> frozenset[str]:
        """The key that the last clause asserts, where no other stands or all have been dealt with."""
        naming = [clause for clause in clauses if clause.named]
        while naming and naming[-1].stance is Stance.DENIES:
            naming.pop()
        last = naming[-1] if naming else Clause("", Stance.DENIES)
        if last.stance is not Stance.ASSERTS or len(last.named) != 1 or last not in clauses[-_NEAR_THE_END:]:
            return frozenset()
        denied = _union(clause.denied for clause in clauses)
        if _REASON.match(last.text) or _ALSO.search(last.text) or last.named <= denied:
            return frozenset()
        unclear = [clause for clause in clauses if not clause.denied and (clause.named or not denied)]
        doubted = any(self._said["negative"].search(clause.text) for clause in unclear)
        others = _union(clause.named for clause in naming if clause.stance in (Stance.ASSERTS, Stance.WAVERS))
        if last.concluded:  # What came before was weighed up: "It looked like A. Now it is clearly B."
            others = _narrowed([clause.named for clause in naming if clause.stance is Stance.ASSERTS])
        sure = others - denied <= last.named and not doubted
        return last.named if sure or _BETTER.search(last.text) or self._in_turn(naming) else frozenset()

    def _in_turn(self, naming: Sequence[Clause]) -> bool:
        """Whether the last option is spoken of last, after all others, and not just in the order given."""
        keys = [option.key for option in self._options]
        first = [key for clause in naming for key in keys if len(clause.named) < len(keys) and key in clause.named]
        last = min(naming[-1].named)
        grouped = any(len(clause.named) > 1 for clause in naming)
        return set(first) == set(keys) and first.count(last) == 1 and (grouped or first != keys)

    def _is_back(self, text: str) -> bool:
        """Whether a clause without a key takes back the option that was named last: "but that is wrong"."""
        return _BACK.match(text) is not None and self._said["negative"].search(text) is not None

    def _concluded(self, clause: Clause, lists: Sequence[str]) -> frozenset[str]:
        several = len(re.findall(_KEYS, clause.text)) > 1 and len(clause.named) > 1
        if not clause.named or several or _REASON.match(clause.text) or _SO_IS.match(clause.text):
            return frozenset()
        if len(clause.named) == 1 and _BUT.match(clause.text) and not _ALSO.search(clause.text):
            return clause.named  # "I wanted to say A, but B fits better."
        found = list(re.finditer(_KEYS, clause.text))[-1]
        ends = not re.search(r"\w", clause.text[found.end() :])
        before = clause.text[max(0, found.start() - _LONGEST_LEAD) : found.start()]
        if self._said["it_is"].match(clause.text, found.end()) or (ends and self._said["chosen"].search(before)):
            return self._named(found[0], lists)
        return frozenset()

    def _corrected(self, clauses: list[Clause], lists: Sequence[str]) -> list[Clause]:
        """What stands before the last correction is taken back, if an option is put in its place."""
        marks = [
            place
            for place, (before, clause) in enumerate(pairwise(clauses), start=1)
            if takes_back(clause.text) and not before.text.rstrip().endswith(("?", "？"))
        ]
        rest = clauses[marks[-1] :] if marks else []
        if not any(clause.stance is Stance.ASSERTS and self._concluded(clause, lists) for clause in rest):
            return clauses
        earlier = (
            clause._replace(stance=Stance.SUPPOSES) if clause.named and clause.stance is Stance.ASSERTS else clause
            for clause in clauses[: marks[-1]]
        )
        return [*earlier, *rest]

    def _conceded(self, clauses: list[Clause]) -> list[Clause]:
        """A doubt that is followed by "but …" is only conceded."""
        following = [*clauses[1:], Clause("", Stance.ASSERTS)]
        return [
            clause._replace(stance=Stance.SUPPOSES)
            if clause.stance is Stance.WAVERS
            and (_BUT.match(after.text) or self._said["but_after"].search(clause.text))
            else clause
            for clause, after in zip(clauses, following, strict=True)
        ]

    def _sign(self, found: re.Match[str], lists: list[str]) -> str:
        word = found[0]
        begins = word != "A" or not _INSIDE.search(found.string, max(0, found.start() - 3), found.start())
        noun = self._said["i" if word in "Ii" else "noun"]
        article = word in _ARTICLES and begins and noun.match(found.string, found.end())
        if article or word.isdigit() or len(lists) == _MOST_LISTS:  # "A dog", "I see", "2 dogs".
            return word
        lists.append(found[0])
        return chr(_FIRST_SIGN + len(lists) - 1)

    def _named(self, signs: str, lists: Sequence[str]) -> frozenset[str]:
        return frozenset(
            key for sign in re.findall(_KEYS, signs) for key in self._key.findall(lists[ord(sign) - _FIRST_SIGN])
        )

    def _clauses(self, text: str, lists: Sequence[str]) -> Iterator[Clause]:
        whole = list(_cut(text, _SENTENCE))
        for place, sentence in enumerate(whole):
            following = "".join(whole[place + 1 : place + 2])
            asked = sentence.rstrip().endswith(("?", "？")) and len(whole) > 1 and not _YES.match(following)
            if (only := self._all_but(sentence)) is not None:
                keys = self._named(only, lists)
                yield Clause(f"Answer: {only}.\n", Stance.ASSERTS, keys)
                continue
            supposed = asked
            for piece in _cut(sentence, self._said["boundary"]):
                supposed = supposed or self._said["supposes"].search(piece) is not None
                yield self._clause(piece, lists, supposed)

    def _all_but(self, sentence: str) -> str | None:
        """The sign of the one option that a sentence leaves: "everything except B is wrong"."""
        found = self._said["except"].search(sentence)
        if found is None or not self._is_denial(f"{sentence[: found.start()]} {sentence[found.end() :]}"):
            return None
        return found["behind"] or found["before"]

    def _is_denial(self, text: str) -> bool:
        return any(self._said[name].search(text) for name in ("wrong", "negative"))

    def _clause(self, piece: str, lists: Sequence[str], supposed: bool) -> Clause:
        named = self._named(piece, lists)
        restated = len(named) == len(self._options) > 2
        patterns = (self._said["denies"], self._said["denied"]) if named else ()
        denials = [found for pattern in patterns for found in pattern.finditer(piece)]
        denied = frozenset(key for found in denials for key in self._named(found[0], lists))
        if supposed or restated or self._said["before"].search(piece):
            return Clause(piece, Stance.SUPPOSES, named, frozenset() if supposed or restated else denied)
        if denied:
            surely = [found for found in denials if not _is_weak(found) and not _REASON.match(piece)]
            refuted = frozenset(key for found in surely for key in self._named(found[0], lists))
            return Clause(piece, Stance.DENIES, named, denied, refuted)
        if named and self._said["negative"].search(piece):
            return Clause(piece, Stance.SUPPOSES, named)
        wavers = self._said["wavers"].search(piece) is not None
        return Clause(piece, Stance.WAVERS if wavers else Stance.ASSERTS, named)


def _union(keys: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*keys)


def _narrowed(keys: Sequence[frozenset[str]]) -> frozenset[str]:
    """The keys that were named alone, if any was: after "A and B are left" comes "and the color points to B"."""
    return _union(named for named in keys if len(named) == 1) or _union(keys)


def _is_weak(found: re.Match[str]) -> bool:
    """Whether a denial may be about something else than the option's being right: "B is not striped"."""
    word = found.groupdict().get("wrong")
    return word is not None and word.casefold() in _WEAK


def _cut(text: str, boundary: re.Pattern[str]) -> Iterator[str]:
    """The pieces of a text, each with the boundary behind it; "A. cat" is one piece."""
    start = 0
    for found in boundary.finditer(text):
        if not _ENUMERATES.fullmatch(text, start, found.end()) or "\n" in found[0]:
            yield text[start : found.end()]
            start = found.end()
    if start < len(text):
        yield text[start:]


def _joined(clauses: Sequence[Clause], lists: Sequence[str], *stances: Stance) -> str:
    """The clauses of these stances; a mark and the line breaks stay of the others."""
    kept = (
        clause.text if clause.stance in stances else _LEFT_OUT + (". " if "\n" not in clause.text else "\n")
        for clause in clauses
    )
    return re.sub(_KEYS, lambda sign: lists[ord(sign[0]) - _FIRST_SIGN], "".join(kept))
