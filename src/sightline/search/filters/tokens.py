"""The words and signs of a filter."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from sightline.search.filters.problems import FilterError

TokenKind: TypeAlias = Literal["word", "string", "name", "sign", "end"]
_CLOCK = r"\d{1,4}[-/]\d{1,2}[-/]\d{1,2}[Tt]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[-+]\d\d:?\d\d)?"
_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |(?P<sign>&&|\|\||==|!=|!~|<=|>=|[()\[\],:=<>~!])
    |(?P<quote>["'`])
    |(?P<word>{_CLOCK}(?![\w:])|[^\s()\[\],:=<>~!&|"'`]+)""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Token(NamedTuple):
    """A word, a quoted string, a field name in backticks, or a sign; `at` is where it begins, from 0."""

    kind: TokenKind
    text: str
    at: int

    @property
    def keyword(self) -> str:
        """The word in lower case; nothing for what is quoted."""
        return self.text.lower() if self.kind == "word" else ""


def tokens_of(text: str) -> list[Token]:
    """The tokens of a filter, with an end after the last."""
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FilterError(f'"{text[at]}" can\'t stand', at, 'write "&&" or "and", "||" or "or"; quote other text')
        if match["quote"]:
            token, at = _quoted(text, at)
            found.append(token)
            continue
        if match["sign"]:
            found.append(Token("sign", match["sign"], at))
        elif match["word"]:
            found.append(Token("word", match["word"], at))
        at = match.end()
    return [*found, Token("end", "", len(text))]


def _quoted(text: str, at: int) -> tuple[Token, int]:
    quote = text[at]
    end = at + 1
    while end < len(text) and text[end] != quote:
        end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        raise FilterError(f"a string that begins with {quote} does not end; it begins", at, f"put {quote} after it")
    inside = _ESCAPED.sub(r"\1", text[at + 1 : end])
    return Token("name" if quote == "`" else "string", inside, at), end + 1
