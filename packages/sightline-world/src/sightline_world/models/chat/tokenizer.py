"""A text → its terms: the longest phrases that the lexicon knows, and words that stand on signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sightline_world.models.chat.lexicon import SIGN, Term, Token, lexicon, tokens

_LONGEST = 5
_PUNCTUATION = frozenset(".;:!?")
_MOST_SIGN_WORDS = 2
_LEADS = frozenset(("of", "for", "to", "named", "called", "saying", "with"))
_BEFORE_WORDS = frozenset(
    ("the", "word", "words", "name", "text", "a", "an", "that", "it", "is", "are", "on", "to", "be")
)
_NOT_WRITTEN = frozenset(("on", "in", "at", "where", "which", "what"))


def scan(text: str) -> list[Term]:
    """Terms in the order of the text; what means nothing here is of the sort `unknown`."""
    return list(_Scanner(tokens(text)).terms())


class _Scanner:
    """One pass over the tokens."""

    def __init__(self, found: Sequence[Token]) -> None:
        self._tokens = found
        letters = [token for token in found if token.text.isalpha()]
        # A text that shouts from end to end says nothing by its capitals.
        self._shouts = sum(token.is_shouted for token in letters) * 2 > len(letters) + 1

    def terms(self) -> Iterator[Term]:
        at = 0
        while at < len(self._tokens):
            term, length = self._term(at)
            yield term
            at += length
            if term.sort == "says":
                words, length = self._said(at)
                if words:
                    yield Term("words", (words,), words, at)
                    at += length

    def _term(self, at: int) -> tuple[Term, int]:
        token = self._tokens[at]
        if token.quoted or (token.is_shouted and not self._shouts):
            return self._written(at)
        if token.text in _PUNCTUATION or token.text == ",":
            return Term("stop" if token.text == "," else "break", (), token.text, at), 1
        for length in range(min(_LONGEST, len(self._tokens) - at), 0, -1):
            words = tuple(each.word for each in self._tokens[at : at + length])
            meaning = lexicon().get(words)
            if meaning is not None:
                return Term(meaning.sort, meaning.values, " ".join(words), at), length
        if token.word.isdigit():
            counts = len(token.word) < 4
            return Term("number" if counts else "stop", (token.word.lstrip("0") or "0",), token.word, at), 1
        if token.is_capital and self._by_a_sign(at):
            return Term("words", (token.word,), token.word, at), 1
        return Term("unknown", (), token.word, at), 1

    def _written(self, at: int) -> tuple[Term, int]:
        """Quoted words, or a run of words in capitals."""
        if self._tokens[at].quoted:
            return Term("words", (self._tokens[at].word,), self._tokens[at].text, at), 1
        end = at
        while end < len(self._tokens) and end < at + _MOST_SIGN_WORDS and self._tokens[end].is_shouted:
            end += 1
        words = " ".join(token.word for token in self._tokens[at:end])
        return Term("words", (words,), words, at), end - at

    def _by_a_sign(self, at: int) -> bool:
        """`the Lornwick sign`, `the sign of Lornwick`: a name beside a sign stands on it."""
        after = self._tokens[at + 1].word if at + 1 < len(self._tokens) else ""
        before = [token.word for token in self._tokens[max(0, at - 3) : at]]
        meaning = lexicon().get((after,))
        if at > 0 and meaning is not None and meaning.values == (SIGN,):
            return True
        return bool(before) and before[-1] in _LEADS and any(_is_sign(word) for word in before[:-1])

    def _said(self, at: int) -> tuple[str, int]:
        """What follows "says": a quotation, or one or two words up to the next preposition."""
        start = at
        while at < len(self._tokens) and (self._tokens[at].word in _BEFORE_WORDS or self._tokens[at].text in ":,"):
            at += 1
        if at >= len(self._tokens):
            return "", 0
        first = self._tokens[at]
        if first.quoted or first.is_shouted:
            term, length = self._written(at)
            return term.values[0], at + length - start
        if not first.word.isalpha() or first.word in _NOT_WRITTEN or _is_sign(first.word):
            return "", 0
        words = [first.word]
        if at + 1 < len(self._tokens) and self._goes_on(self._tokens[at + 1]):
            words.append(self._tokens[at + 1].word)
        return " ".join(words), at + len(words) - start

    def _goes_on(self, token: Token) -> bool:
        if not token.word.isalpha() or token.quoted:
            return False
        meaning = lexicon().get((token.word,))
        return meaning is None or meaning.sort in ("kind", "place", "colour")


def _is_sign(word: str) -> bool:
    meaning = lexicon().get((word,))
    return meaning is not None and meaning.values == (SIGN,)
