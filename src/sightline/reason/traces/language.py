"""Which language a text is in: by script, and among Latin scripts by their commonest words."""

from __future__ import annotations

import re
from collections import Counter

from sightline.errors import UserError
from sightline.metrics.answers.numerals import ascii_words

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
# The commonest words; of English also those that lists of things in a picture are made of.
_COMMON = {
    "en": """the of and a to in is with that it on are this there for as has was which or an be from at by i you he she
        they we not no do does but its his her their one two three four five six some any all also very more most than
        so if then here what who when where while can may might could would should will have had been being were up down
        out over under behind beside near next between above below front left right middle top side around across along
        through into onto off see seen shows show appears looks look wearing holding standing sitting running walking
        sleeping parked made called about only because them these those other another both each few many much like just
        red blue green yellow black white orange purple pink brown grey gray dark light bright large small big little
        old new young tall short long wide open clear man men woman women people person child children boy girl dog cat
        bird car street road house building door window wall sky water tree trees grass table picture image photo
        photograph background view""",
    "de": """der die das und ist ein eine einen einem einer mit auf nicht von den dem zu sind im auch sich wie für des
        es am an aus bei nach über unter neben hinter vor man sieht steht wird hat oder aber zwei""",
    "fr": """le la les et est un une des avec dans sur que qui pour du il elle pas au aux ce sont de en se ses son sa
        on par plus ou derrière devant deux""",
    "es": """el la los las y es un una unos unas con en que por del de se para no al lo son como su sus hay está están
        más pero sobre mientras dos""",
    "it": """il la gli le e è un una uno con di che per del della dei delle non sono nel nella si lo da come al sul
        sulla ha ma più mentre due""",
    "pt": """o a os as e é um uma com de que em para do da dos das não no na nos nas se são como ao por mais seu sua
        está há enquanto dois duas""",
    "nl": """de het een en is van met op in niet dat zijn te voor die er aan ook naar bij om uit door over achter naast
        hij heeft maar twee""",
    "sv": "och en ett är det på med som av för till den inte i har bredvid bakom de om från men sig två under man",
    "da": "og en et er det på med som af for til den ikke i har bag de om fra men sig to under ved man siden der",
    "fi": "ja on ei se että joka mutta ovat kuvan kuvassa hän kun niin kuin myös sen jossa tai vieressä oli kaksi",
    "tr": "bir ve bu ile için olan da de çok daha gibi var onun üzerinde arkasında yanında olarak değil iki ama ise",
    "vi": "một là có và của trong trên các với được cho không này màu đang những ở bên người con chiếc hai đó",
    "pl": "i w na z jest się nie do to że po za od jak są oraz który przez ale obok dwa dwie stronie tym",
    "cs": "a v na je se z že do to po za s u od jsou ale který vedle dva o ve si tak",
    "ro": "și în de la cu pe un o este sunt care nu din se mai lângă dar lui pentru că ce al doi a",
    "hu": "a az egy és van nem hogy is mellett mögött két áll ez meg de vagy kép látható között volt",
    "id": "di dan yang dengan ada ini itu untuk dari sebuah pada atas tidak adalah seorang seekor dua orang ke",
}
_LISTS = {code: frozenset(words.split()) for code, words in _COMMON.items()}
_ENGLISH = _LISTS["en"]
_SPEAKING = {
    word: tuple(code for code, theirs in _LISTS.items() if word in theirs)
    for words in _COMMON.values()
    for word in words.split()
}
LANGUAGES = frozenset({*_LETTERS, *_COMMON})
"""Those that can be told apart, by their codes in ISO 639-1."""
_ACCENT = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS = 8
_ENOUGH_WORDS = 12
_MOST_WORDS = 150
_MOST_LETTERS = 2_000
"""In which these words are, unless they are uncommonly long; to take 8,000 apart takes four times as long."""
_OTHER_SCRIPT = 0.2
_KANA_SHARE = 0.1
_FEWEST_VOTES = 0.08
_PLAINLY = 0.4
_ENGLISH_VOTES = 0.15
"""Its short words occur elsewhere, and the list is long."""


def known_language(code: str) -> str | None:
    """A code as rules have it; `any` is None, and what can't be told is refused before all of it is rejected."""
    if code != "any" and code not in LANGUAGES:
        raise UserError(
            f'"{code}" is no language that can be told.', f"say {', '.join(sorted(LANGUAGES))}, or any for all"
        )
    return None if code == "any" else code


def speaks(language: str, text: str) -> bool:
    """Is a text in this language, as far as can be told? From twelve words on, it must have some of its words."""
    found = language_of(text)
    return found == language or (found is None and (language not in _COMMON or not _is_long(text)))


def language_of(text: str) -> str | None:
    """An ISO 639-1 code; None where the text says too little. A fifth in another script makes it that language."""
    sample = text[:8_000]
    if not sample.isascii() and (code := _by_script(sample)) is not None:
        return code
    words = _words(sample)
    if len(words) < _FEWEST_WORDS:
        return None
    accented = 0 if sample.isascii() else sum(_ACCENT.search(word) is not None for word in words)
    english = sum(map(_ENGLISH.__contains__, words)) - accented / 2  # English has accents only in names and loans.
    if english >= _PLAINLY * len(words):
        return "en"
    # A word that English has, too, says nothing for another language by itself.
    told = {code for word in words if word not in _ENGLISH for code in _SPEAKING.get(word, ())}
    votes = Counter(code for word in words for code in _SPEAKING.get(word, ()) if code in told)
    votes["en"] = int(english) if english >= _ENGLISH_VOTES * len(words) else 0
    code, most = max(votes.items(), key=lambda pair: pair[1])
    return code if most >= max(1, _FEWEST_VOTES * len(words)) else None


def _by_script(sample: str) -> str | None:
    letters = sum(map(str.isalpha, sample))
    counts = {code: len(pattern.findall(sample)) for code, pattern in _LETTERS.items()}
    # Japanese is mostly Chinese characters; its own letters tell.
    if counts["ja"] > _KANA_SHARE * (counts["ja"] + counts["zh"]) and counts["ja"]:
        counts["ja"] += counts.pop("zh")
    code, most = max(counts.items(), key=lambda pair: pair[1])
    return code if most >= max(_FEWEST_WORDS, _OTHER_SCRIPT * letters) else None


def _words(text: str) -> list[str]:
    start = text[:_MOST_LETTERS]
    if start.isascii():
        return ascii_words(start)[:_MOST_WORDS]
    return _WORD.findall(start.lower())[:_MOST_WORDS]


def _is_long(text: str) -> bool:
    return len(_words(text)) >= _ENOUGH_WORDS
