"""What a reply concludes: its words, and the answer that it gives beside them."""

from __future__ import annotations

import re

from sightline.reason.questions import Question
from sightline.reason.steps.checking import Fault, chosen_in
from sightline.types import Answer, Choice

# "The answer is the moon", but not "the answer is clear from picture 2".
_STATED = re.compile(
    r"(?:\b(?:answer|option|choice)\b\s*(?:(?:is|was|(?:must|should|would|can\s+only)\s+be)\b[:：]?|[:：=])"
    r"|答案\s*(?:应该)?(?:是|为|[:：]))"
    r"(?!\s*(?:(?:now|then|thus|therefore|quite|very)\s+)?"
    r"(?:clear|obvious|evident|plain|found|given|seen|shown|visible|easy|known|certain|in|by|as\s+follows)\b)",
    re.IGNORECASE,
)
# Who says so has not found an answer.
_OPEN = re.compile(
    r"\b(?:nobody|no\s+one|who)\s+(?:knows|can\s+(?:know|say|tell))\b(?!\s+(?:why|how)\b)"
    r"|\b(?:i|we|you|one)\s+(?:don't|do\s+not|can't|cannot|can\s+not)\s+(?:know|say|tell)\b"
    r"|\b(?:can't|cannot|can\s+not|could\s+not|couldn't)\s+be\s+"
    r"(?:known|said|told|determined|decided|answered)\b"
    r"|\b(?:not|im)\s?possible\s+to\s+(?:know|say|tell|decide|determine|answer)\b|\bhard\s+to\s+(?:say|tell)\b"
    r"|\b(?:is|are|remains?|stays?)\s+un(?:clear|known|certain|decided)\b|\bno\s+idea\b|\bnot\s+sure\b"
    r"|\bnone\s+of\s+the\s+(?:above|options|answers|choices)\b|\bnot\s+enough\s+information\b"
    r"|不知道|无法(?:确定|判断|回答)|都不(?:对|是|正确)",
    re.IGNORECASE,
)


def concluded(question: Question, conclusion: str, answer: str) -> str | Fault:
    """The last step of a reply, with its answer put behind words that name none and contradict nothing.

    A fault where the answer is no option, or another than the words name. Words that say another answer than an
    option, that none can be known, or that it is not this one, stay as they are: then the last step has none.
    """
    text, answer = conclusion.strip(), answer.strip().rstrip(".")
    if not answer:
        return text
    if not isinstance(question.truth, Choice):
        said_so = _says(text, answer) or _contradicts(text, answer)
        return text if said_so else f"{text} The final answer is: {answer}.".strip()
    named, meant = chosen_in(question.task, text), chosen_in(question.task, answer)
    if meant is None:
        return Fault("conclusion", f'the answer is given as "{answer}", which is none of the options')
    if named is not None and named != meant:
        return Fault("conclusion", f"the conclusion says {named}, and the answer is given as {meant}")
    return text if named is not None or _contradicts(text, meant) else f"{text} The answer is {meant}.".strip()


def _says(text: str, answer: str) -> bool:
    """Do words give this answer already, in one form or another?"""
    from sightline.score.answers.match import match_answer  # Its patterns take time to compile.

    return answer.casefold() in text.casefold() or match_answer(Answer(answer), text).matched


def _contradicts(text: str, answer: str) -> bool:
    """Do words from which no answer can be read speak against one?"""
    from sightline.score.answers.reply import sentences  # Its patterns take time to compile.

    denied = rf"(?:\bnot|n't|\bnever)\s+(?:option\s+)?[(\"']?{re.escape(answer)}\b"
    last = (sentences(text) or ("",))[-1]
    return bool(_STATED.search(text) or re.search(denied, text) or _OPEN.search(last))
