"""Words by which a text says in other languages than English which option is right; replies and steps are read by it.

All are parts of patterns that ignore case and white space (`re.IGNORECASE | re.VERBOSE`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sightline.metrics.answers.reply import MOST_STATEMENTS, Statement, Strength

FLAGS = re.IGNORECASE | re.VERBOSE
_LONGEST_CONTENT = 300
_SHORT, _SHORT_UNSPACED = 2, 1
_ENDS = r"(?=\s*(?:$|[.,;:!)\n]))"


class _Language(NamedTuple):
    """What stands before a key ("the answer is"), behind it ("is right"), and before a conclusion ("so it is").

    `either` stands between two options of which one is right, `denied` before a wrong one, `supposed` before what is
    not said to be so, `example` before an example.
    """

    answer: str
    right: str
    so: str
    either: str
    denied: str
    supposed: str
    example: str


_GERMAN = _Language(
    answer=r"\b(?:antwort|lösung)(?:\s+(?:ist|lautet|wäre)\b(?:\s+(?:also|daher|somit))?)?",
    right=rf"\s+(?:ist\s+)?(?:(?:also|daher|somit|eindeutig)\s+)?(?:(?:richtig|korrekt){_ENDS}|die\s+\w*\s*antwort\b)",
    so=r"\b(?:daher|folglich|somit|deshalb|also(?=,?\s+ist\s+es\b))\b[,:]?(?:\s+ist\s+es\b)?",
    either=r"oder\b",
    denied=r"\bnicht",
    supposed=r"\b(?:wenn|falls|ob)\b",
    example=r"\bzum\s+beispiel|\bz\.(?:\s?b\.)?|\bbeispiel",
)
_FRENCH = _Language(
    answer=r"\bréponse(?:\s+(?:correcte|juste|exacte))?(?:\s+(?:est|serait)\b(?:\s+donc)?(?:\s+la\b)?)?",
    right=rf"\s+est\s+(?:donc\s+)?(?:(?:correcte?|juste|exacte?|la\s+bonne){_ENDS}|la\s+(?:bonne\s+)?réponse\b)",
    so=r"\b(?:donc|par\s+conséquent)\b[,:]?(?:\s+c['’]est)?(?:\s+la\b)?",
    either=r"ou\b",
    denied=r"\bpas(?:\s+la)?",
    supposed=r"\bsi\b",
    example=r"\bpar\s+exemple|\bp\.\s?ex\.|\bexemple",
)
_SPANISH = _Language(
    answer=r"\brespuesta(?:\s+correcta)?(?:\s+(?:es|sería)\b(?:\s+la\b)?)?",
    right=rf"\s+es\s+(?:(?:la\s+)?correct[ao]{_ENDS}|la\s+respuesta\b)",
    so=r"\b(?:por\s+(?:lo\s+)?tanto|así\s+que|entonces)\b[,:]?(?:\s+es\b)?(?:\s+la\b)?",
    either=r"[ou]\b",
    denied=r"\bno\s+es(?:\s+la)?",
    supposed=r"\bsi\b",
    example=r"\bpor\s+ejemplo|\bp\.\s?ej\.|\bejemplo",
)
_PORTUGUESE = _Language(
    answer=r"\bresposta(?:\s+(?:correta|certa))?(?:\s+(?:é|seria)\b(?:\s+a(?=\s+\w\b))?)?",
    right=rf"\s+(?:é|está)\s+(?:(?:a\s+)?(?:corret[ao]|cert[ao]){_ENDS}|a\s+resposta\b)",
    so=r"\bportanto\b[,:]?(?:\s+é\b)?(?:\s+a(?=\s+\w\b))?",
    either=r"ou\b",
    denied=r"\bnão\s+é(?:\s+a)?",
    supposed=r"\bse\s+a(?=\s+resposta)",
    example=r"\bpor\s+exemplo|\bexemplo",
)
_ITALIAN = _Language(
    answer=r"\brisposta(?:\s+(?:corretta|giusta|esatta))?(?:\s+(?:è|sarebbe)\b(?:\s+la\b)?)?",
    right=rf"\s+è\s+(?:(?:corrett[ao]|giust[ao]|quella\s+giusta){_ENDS}|la\s+risposta\b)",
    so=r"\b(?:quindi|dunque|perciò)\b[,:]?(?:\s+è\b)?(?:\s+la\b)?",
    either=r"o(?:ppure)?\b",
    denied=r"\bnon\s+è(?:\s+la)?",
    supposed=r"\bse\s+la(?=\s+risposta)",
    example=r"\b(?:ad|per)\s+esempio|\besempio",
)
_RUSSIAN = _Language(
    answer=r"\bответ(?:\s+будет)?",
    right=rf"\s*(?:[-–—]\s*)?(?:это\s+|является\s+)?(?:(?:верно|правильно){_ENDS}|(?:верный|правильный)\s+(?:ответ|вариант))",
    so=r"\b(?:значит|поэтому|следовательно|итак)\b[,:]?(?:\s+это)?",
    either=r"(?:или|либо)\b",
    denied=r"\bне",
    supposed=r"\bесли\b",
    example=r"\bнапример|\bпример",
)
_JAPANESE = _Language(
    answer=r"(?:答え|正解)(?:は|が)?",
    right=r"\s*[がは](?:正解|正しい|答え)(?!では|じゃ)",
    so=r"(?:したがって|従って|だから|よって|ゆえに)[,，、]?",
    either=r"(?:か|または|もしくは|それとも)",
    denied=r"(?!)",
    supposed=r"もし",
    example=r"例えば|たとえば|(?<!\w)例(?=\s*[:：])",
)
_KOREAN = _Language(
    answer=r"(?<!\w)정?답(?:은|이)?",
    right=r"\s*번?[이가은는]\s*(?:정답|맞|옳)(?!이?\s*(?:아니|지))",
    so=r"(?:따라서|그러므로|그래서)[,，]?",
    either=r"(?:이나|또는|혹은|거나)",
    denied=r"(?!)",
    supposed=r"만약|만일",
    example=r"예를\s*들[어면]|예시|(?<!\w)예(?=\s*[:：])",
)
_CHINESE = _Language(
    answer=r"(?:(?<![不能别若果误])|(?<=只能))选(?!项)(?:择)?",
    right=r"\s*(?:选项|项)?[:：]?(?:是|为)?(?:正确的?|最佳|对的)",
    so=r"(?:因此|所以|综上(?:所述)?|故)[,，:：]?\s*[是为]?",
    either=r"(?:或者?|还是)",
    denied=r"(?!)",  # Said by 排除 and 不选, which the reader of keys knows.
    supposed=r"如果|假如|要是|若(?!干)|为什么|为何|是否",
    example=r"例如|比如|(?<!\w)例(?=\s*[:：])",
)
_ALL = (_GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN, _RUSSIAN, _JAPANESE, _KOREAN, _CHINESE)


def _any(parts: Iterator[str]) -> str:
    return f"(?:{'|'.join(dict.fromkeys(parts))})"


IS_RIGHT = _any(words.right for words in _ALL)
SO = _any(words.so for words in _ALL)
OR = _any(words.either for words in _ALL)
NOT = _any(words.denied for words in _ALL)
IF = _any(words.supposed for words in _ALL)
EXAMPLE = _any(words.example for words in _ALL)
COPULA = r"(?:です|だ(?!け)|である|でしょう|になり|となり|번|입니다|이다|이에요|예요|이며|이고)"
"""What stands behind an option that is said to be it, where that is no word of its own."""
OPTION = r"(?:opción|opção|opzione|letra|lettre|lettera|buchstabe|вариант)"

_ANSWER_IS = re.compile(rf"{_any(words.answer for words in _ALL)}\s*(?:[:：=]|[-–—](?=\s))?", FLAGS)
_SIGN = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_SIGN}]")
# Korean has spaces, but what English says by small words is written to the end of a word.
_OPEN_BEHIND = re.compile(f"[{_SIGN}\uac00-\ud7af]")


def answers_stated(text: str) -> Iterator[Statement]:
    """What stands behind the last fifty of "the answer is" in any of the languages, up to the end of the line."""
    for found in list(_ANSWER_IS.finditer(text))[-MOST_STATEMENTS:]:
        first = text[found.end() : found.end() + _LONGEST_CONTENT].partition("\n")[0]
        yield Statement(first.strip(), Strength.PHRASE, found.end())


def is_common(text: str) -> bool:
    """Is an option's text so short that it occurs in other senses? Without spaces, a word has fewer signs."""
    return len(text) <= (_SHORT_UNSPACED if is_open_behind(text) else _SHORT)


def is_open_behind(text: str) -> bool:
    """May other words follow an option's text without a space?"""
    return _OPEN_BEHIND.match(text[-1:]) is not None


def bounded(text: str) -> str:
    """A pattern for a text as whole words; where words are not set apart by spaces, for the text anywhere."""
    left = "" if _UNSPACED.match(text) else r"(?<!\w)"
    right = "" if is_open_behind(text) else r"(?!\w)"
    return left + re.escape(text) + right
