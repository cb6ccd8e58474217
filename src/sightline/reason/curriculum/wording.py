"""Does a sentence call the words of an option right, or conclude with them? They are marked in it first."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sightline.reason.curriculum.supposing import is_open
from sightline.score.answers.normalise import normalise
from sightline.score.choices.languages import FLAGS, SO, bounded, is_common

OWN, OTHERS = "\ue000", "\ue001"
"""The right option, and another one, in a sentence in which they have been marked."""
PICK = r"(?:choose|chose|select|pick|tick|mark|take|go\s+with|opt\s+for|settle\s+on)"
SO_EN = r"(?:so|thus|hence|therefore)"
WRONG = r"""\s+(?:is|are|can\s+be|must\s+be)\s+(?:all\s+|both\s+|clearly\s+|then\s+|thus\s+|therefore\s+)*
    (?:wrong|incorrect|false|out|impossible|not\s+(?:right|correct|it)|ruled\s+out|excluded|eliminated|discarded)\b"""
ALL_BUT = r"\b(?:everything|anything|all|all\s+(?:the\s+)?options|every\s+option)\s+(?:but|except(?:\s+for)?)\s+"
ENDS = r"(?=[\s)\"']*(?:$|[.,;:!。，；！]))"
# Behind "only B" and "only the red cup".
CAN_BE = rf"""(?:
    \s+(?:can|could)\s+be\s+(?:right|correct|true|it|the\s+(?:(?:right|correct)\s+)?(?:answer|one|option))\b
    | \s+(?:is|are)\s+(?:left|possible)\b
    | \s+(?:fits?|match(?:es)?|works?|remains?|qualif(?:ies|y))
      (?:{ENDS}|\s+(?:(?:all|both|the|this|these)\s+)*(?:descriptions?|questions?|conditions?|clues?|evidence)\b))"""
PICK_IT = r"""\b(?:so|then|thus|hence|therefore)[,:]?\s+(?:(?:we|you|i)\s+)?
    (?:choose|select|pick|tick|go\s+with|opt\s+for)\s+(?:it|this|that)\b(?!\s+up)"""
_TOLD = re.compile(
    rf"""{OWN}['")]*\s+(?:is|are|must\s+be|has\s+to\s+be|can\s+only\s+be)\s+(?:{SO_EN}\s+|clearly\s+)?
      (?:the\s+(?:(?:correct|right)\s+one|(?:(?:correct|right|best)\s+)?(?:answer|option|choice))\b
        | correct(?=\s*(?:$|[.,;:!)]|(?:because|since|as|and|but|so|here)\b)))
    | \bonly\s+{OWN}{CAN_BE}
    | {ALL_BUT}{OWN}{WRONG}
    | {OWN}[^{OTHERS}.;!?]*?{PICK_IT}
    | (?:(?:^|[,;:：]\s*){SO_EN}[,:]?\s+(?:it|this)\s+is|\b(?:it|this|that)\s+(?:must|has\s+to|can\s+only)\s+be)\s+
      {OWN}{ENDS}
    | (?:^|[,;:：]\s*){SO_EN}[,:]?\s+{OWN}['")]*(?=\s*(?:$|[.;!]))
    | \b(?:(?:correct|right)\s+one\s+(?:is|must\s+be|has\s+to\s+be|can\s+only\s+be)|ground[\s-]truth\s*[:：=])\s*
      {OWN}{ENDS}""",
    FLAGS,
)
_BE = r"(?:is|are|was|were|remains?|(?:must|has\s+to|have\s+to|can\s+only|should)\s+be)"
DOES = r"""(?:(?:\w+ly|indeed|alone)\s+)?(?:is|are|was|were|has|have|had|does|did|must|can|will|would|should|remains?
    |fits?|matches|looks|seems|appears|goes|went|moves|moved|stands|stood|lies|lay|comes|came|wins|won|changed)"""
_THEN = rf"""(?:{SO_EN}|consequently|accordingly|in\s+conclusion|as\s+a\s+result
      |(?:it\s+follows|(?:we|i)\s+conclude|this\s+(?:means|shows|proves))\s+that)"""
_CONNECTIVE = re.compile(rf"\b{_THEN}\b|{SO}", FLAGS)
_LEADS = rf"""(?:^|[,;:：–—]\s*)(?:and\s+)?{_THEN}[,:]?\s+(?!far\b|that\b|many\b|much\b|long\b)"""
_CONCLUDED = re.compile(
    rf"""(?:
      {_LEADS}(?:only\s+)?{OWN}['")]*(?:{ENDS}|\s+{DOES}\b)
    | {_LEADS}[^{OWN}{OTHERS}.;:!?]{{0,80}}?\b{_BE}\s+{OWN}{ENDS}
    | \b{_BE}\s+(?:thus|hence|therefore|consequently)[,:]?\s+{OWN}{ENDS}
    | {OWN}['")]*\s+{DOES}\s+(?:thus|hence|therefore|consequently)\b
    | (?:^|[,;:：，；]\s*){SO}\s*(?:(?:ist|der|die|das|le|la|el|il|o|a)\s+)*(?:只有|应该是|就是)?{OWN}
      (?![的和与及或、之])
    )(?P<rest>.*)""",
    FLAGS | re.DOTALL,
)
_UNDECIDED = re.compile(
    rf"""{OTHERS} | [?？]
    | \b(?:not|never|no|nor|neither|cannot|if|unless|whether|may|might|could|or|nicht|pas|não|non|не)\b | n['’]t\b
    | 不 | 没 | 并非 | 吗 | ない | 아니""",
    FLAGS,
)
_BEFORE_SHORT = re.compile(
    r"(?:^|[^\w\s]\s*|\b(?:is|be|so|thus|hence|therefore|that|only|but|clearly)\s+)$", re.IGNORECASE
)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)


class Wording:
    """Looks for the words of one option; those of another one may hold them, and are told apart."""

    def __init__(self, texts: Iterable[str], right: str) -> None:
        self._right = normalise(right)
        self._called = _called(texts)
        self.is_common = is_common(_ARTICLE.sub("", right.strip(" .。")))

    def marked(self, sentence: str) -> str:
        """A sentence with a mark for the words of each option."""
        return self._called.sub(self._mark, sentence)

    def is_told(self, marked: str) -> bool:
        """Are its words called right?"""
        return any(not is_open(found) for found in _TOLD.finditer(marked))

    def _mark(self, found: re.Match[str]) -> str:
        if is_common(found["words"]) and not _BEFORE_SHORT.search(found.string[: found.start()]):
            return found[0]
        return OWN if normalise(found[0]) == self._right else OTHERS


def may_conclude(sentence: str) -> bool:
    """Has it any word of a conclusion? Most have none, and need no marks."""
    return _CONNECTIVE.search(sentence) is not None


def concludes(marked: str) -> bool:
    """Does a sentence with marks come to the right option ("so", "therefore"), to it alone, and without denying it?"""
    found = _CONCLUDED.search(marked)
    return found is not None and not _UNDECIDED.search(found["rest"]) and not is_open(found)


def _called(texts: Iterable[str]) -> re.Pattern[str]:
    """Finds the words of options, the longest first, with an article or without."""
    words = sorted({_ARTICLE.sub("", text.strip(" .。")) for text in texts} - {""}, key=lambda text: (-len(text), text))
    ways = "|".join(bounded(text) for text in words)
    return re.compile(rf"(?:\b(?:the|an?)\s+)?(?<![.,])(?P<words>{ways})(?!%|[.,]\d)", re.IGNORECASE)
