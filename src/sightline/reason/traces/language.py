"""Which language a text is in: by script, and among Latin scripts by their commonest words."""

from __future__ import annotations

import re
from collections import Counter

_LETTERS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
_COMMON = {
    "en": "the of and a to in is with that it on are this there for as has was which or an be from at by",
    "de": "der die das und ist ein eine mit auf nicht von den dem zu sind im auch sich wie für des es",
    "fr": "le la les et est un une des avec dans sur que qui pour du il pas au ce sont de en",
    "es": "el la los las y es un una con en que por del de se para no al lo son como",
    "it": "il la gli e un una con di che per del della non sono nel si lo le da come",
    "pt": "o a os as e um uma com de que em para do da não no na se são como",
    "nl": "de het een en is van met op in niet dat zijn te voor die er aan ook naar",
}
_VOTES = {
    word: [code for code, words in _COMMON.items() if word in words.split()]
    for words in _COMMON.values()
    for word in words.split()
}
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS = 8
_MOST_WORDS = 150
_OTHER_SCRIPT = 0.2
_KANA_SHARE = 0.1
_FEWEST_VOTES = 0.08


def language_of(text: str) -> str | None:
    """An ISO 639-1 code; None where the text says too little. A fifth in another script makes it that language."""
    sample = text[:8_000]
    if not sample.isascii():
        letters = sum(map(str.isalpha, sample))
        counts = {code: len(pattern.findall(sample)) for code, pattern in _LETTERS.items()}
        # Japanese is mostly Chinese characters; its own letters tell.
        if counts["ja"] > _KANA_SHARE * (counts["ja"] + counts["zh"]) and counts["ja"]:
            counts["ja"] += counts.pop("zh")
        code, most = max(counts.items(), key=lambda pair: pair[1])
        if most >= max(_FEWEST_WORDS, _OTHER_SCRIPT * letters):
            return code
    words = _WORD.findall(sample.lower())[:_MOST_WORDS]
    votes: Counter[str] = Counter()
    for word in words:
        for code in _VOTES.get(word, ()):
            votes[code] += 1
    if len(words) < _FEWEST_WORDS or not votes:
        return None
    (code, most), *_ = votes.most_common(1)
    return code if most >= _FEWEST_VOTES * len(words) else None
