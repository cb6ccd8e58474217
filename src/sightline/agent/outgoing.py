"""What an agent may send to the web: addresses that it was given, and words that hold nothing of the user's pictures.

An address is opened only if a search, a page or the user named it, as it was written there: whatever a page talks a
model into, no address is composed, so none carries anything. The user's pictures stay here unless the user lets them
go out; pictures that came from the web may go back there. Queries are the model's own words; once it has seen anything
of the pictures they are held against what it saw, also encoded. SECURITY.md says what this does not prevent.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from pathlib import PurePosixPath
from string import ascii_lowercase
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from sightline.agent.tools.arguments import MistakeError, shown
from sightline.english import counted
from sightline.io.web_address import BadAddressError, WebAddress, is_loopback, is_public
from sightline.types import Json

if TYPE_CHECKING:
    from sightline.agent.tools.base import Observation

MOST_BYTES = 2048
"""Of queries in one attempt."""
_CHOICE_BYTES = 2
"""What the choice of one address or picture among those that were named can tell."""
_REGION_BYTES = 8
"""What the edges of a region can tell."""
_BYTES_PER_DIGIT = 256
_ALPHABETS = frozenset(("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"))
_FILES = frozenset(("photo_id", "photo", "photos", "of"))
_NAMES = frozenset(("address", "people", "photos_in", "owner"))
_SHORTEST = 3
_WHOLE = 6
"""Values of fewer letters are found as words only, longer ones also across words."""
_ADDRESS = re.compile(r"https?://(?:\[[\da-f:.]+\])?[^\s<>\"'\[\]{}]*", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_SPELLED = re.compile(r"(?<=\b\w)[\W_]+(?=\w\b)")
_ENCODED = re.compile(r"[\w+/=-]{4,}", re.ASCII)
_UNSENT = frozenset(("So", "Sk", "Cc", "Cf", "Cs", "Co", "Cn"))
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_PHONETIC = re.compile("[\u0250-\u02af\u1d00-\u1dbf\ua720-\ua7ff]")
_LOOKALIKES = str.maketrans("013457@$", "oleastas")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MOST_READINGS = 2000
_PRECISE = re.compile(r"\d\.\d|\d,(?:\d{1,2}|\d{4,})(?!\d)|\d\s*[°º′]")


@dataclass(slots=True)
class Outgoing:
    """What one attempt has heard, and therefore may send; `refused` counts what it may not.

    `open_web`: the model may compose addresses, which are then checked as queries are. `share`: the user lets what is
    known of the pictures go out. `share_pictures`: the user lets the pictures themselves go out, to be searched by.
    `missed` counts what a frozen web was never asked.
    """

    open_web: bool = False
    share: bool = False
    share_pictures: bool = False
    most_bytes: int = MOST_BYTES
    sent_bytes: int = 0
    refused: int = 0
    missed: int = 0
    _addresses: set[str] = field(default_factory=set)
    _user: str = ""
    _codes: set[str] = field(default_factory=set)
    _private: set[str] = field(default_factory=set)
    _sent: str = ""
    _has_seen: bool = False

    def hear_user(self, text: str) -> None:
        """What the user says may go out."""
        self._user += f"{text}\n"
        self._addresses.update(map(str, _addresses_in(text)))

    def hear(self, observation: Observation) -> None:
        """What a tool brought: of the web, whose addresses may be opened; else of the user's pictures."""
        if observation.public:
            if not observation.error:
                for _, text in _leaves(observation.data):
                    self._addresses.update(map(str, _addresses_in(text)))
                    self._codes.update(word for word in _words(text) if _is_code(word))
            return
        self._has_seen = True
        told = observation.text if observation.data is None else observation.data
        for key, text in (*_leaves(told), *(("photo", name) for name in observation.found)):
            self._private.update(_private_values(key, text))

    def address(self, text: str) -> str:
        """The address in its one written form, if it may be opened."""
        try:
            parsed = WebAddress.parse(text)
        except BadAddressError as error:
            raise MistakeError(f"{error}.") from None
        address = str(parsed)
        if is_loopback(address) or not (parsed.ip is None or is_public(parsed.ip)):  # Also where a server fetches.
            self._refuse("the address is not on the public internet.")
        if address in self._addresses:
            self._spend(_CHOICE_BYTES)
        elif not self.open_web:
            self._refuse("only addresses that a search, a page or the user named can be opened, as they are written.")
        else:
            self._check(address)
        return address

    def query(self, text: str) -> str:
        """A query, if it may be sent: without what nobody sees, in which anything could be written."""
        text = _visible(text)
        if not self.open_web and any(str(found) not in self._addresses for found in _addresses_in(text)):
            self._refuse("a query is made of words; leave the address out.")
        self._check(text)
        return text

    def picture(self, *, from_web: bool, is_part: bool) -> None:
        """May a picture be sent: one that came from the web as it is, or a part of it, or else one of the user's?"""
        if from_web:
            self._spend(_REGION_BYTES if is_part else _CHOICE_BYTES)
        elif not self.share_pictures:
            self._refuse("the user's photos are not sent to the web. Describe in words what is looked for.")

    def note(self) -> str | None:
        """What a person should know of it."""
        said = []
        if self.refused:
            said.append(
                f"Refused {counted(self.refused, 'request')} of the agent to the web. --share-metadata lets it send "
                "your pictures' metadata, --share-pictures your pictures, --open-web lets it open any public address."
            )
        if self.missed:
            said.append(f"{self.miss()} The answer was made without it.")
        return " ".join(said) or None

    def miss(self) -> str:
        """That the frozen web was asked for what it does not hold."""
        return f"The frozen web does not hold {counted(self.missed, 'request')} of the agent."

    def _check(self, text: str) -> None:
        if self._has_seen and not self.share:
            self._refuse_values(text)
            self._refuse_codes(text)
        self._spend(len(text.encode()))
        self._sent += f" {text}"

    def _refuse_values(self, text: str) -> None:
        """Nothing that was seen of the pictures, in clear or encoded; digits also where earlier queries began them."""
        readings = list(islice(_readings(text), _MOST_READINGS))
        if len(readings) == _MOST_READINGS:
            self._refuse("it can be read in too many ways. Use a few words.")
        lengths = {len(value) for value in self._private if len(value) >= _WHOLE}
        own = _pieces(_words(self._user), lengths)
        for reading in (*readings, _digits(self._sent + text)):
            found = (_pieces(_words(reading), lengths) & self._private) - own
            if found:
                self._refuse(f"it holds {shown(min(found))}, which is known from the user's photos. Leave it out.")

    def _refuse_codes(self, text: str) -> None:
        """Nothing that can't be read: codes and precise numbers that nobody named, and more digits than a date has."""
        own = {*_words(self._user), *_words(self._sent), *self._codes}
        new = [word for word in _words(unquote_plus(text)) if word not in own]
        code = next((word for word in new if _is_code(word)), None)
        if code is not None:
            self._refuse(f"{shown(code)} comes neither from the user nor from a page. Use words.")
        if 2 * len("".join(_words(text))) < len("".join(text.split())):
            self._refuse("it has more signs than letters. Use words.")
        if any(match[0] not in self._user for match in _PRECISE.finditer(unicodedata.normalize("NFKC", text))):
            self._refuse("numbers as precise as coordinates are not sent. Use words.")
        budget = self.most_bytes // _BYTES_PER_DIGIT
        sent = sum(len(_digits(word)) for word in {*_words(self._sent), *new} - set(_words(self._user)))
        if sent > budget:
            self._refuse(f"only {budget} digits may be sent that the user did not name. Use words.")

    def _spend(self, count: int) -> None:
        if self._has_seen and self.sent_bytes + count > self.most_bytes and not self.share:
            self._refuse(f"no more than {self.most_bytes:,} bytes may be. Answer from what you know.")
        self.sent_bytes += count

    def _refuse(self, why: str) -> None:
        self.refused += 1
        raise MistakeError(f"This was not sent to the web: {why}")


def _addresses_in(text: str) -> Iterator[WebAddress]:
    """Addresses in a text, each with and without what stands in brackets, for both are written so."""
    for found in _ADDRESS.findall(text):
        for written in {found, found.rstrip(")"), re.split(r"[()]", found)[0]}:
            try:
                yield WebAddress.parse(written.rstrip(".,;:!?"))
            except BadAddressError:
                continue


def _leaves(data: Json, key: str = "") -> Iterator[tuple[str, str]]:
    """Texts and numbers in data, each with the name that it stands under; names that are data themselves, too."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            if isinstance(value, int) and key in _NAMES:
                yield key, name
            yield from _leaves(value, name)
    elif isinstance(data, list | tuple):
        for each in data:
            yield from _leaves(each, key)
    elif isinstance(data, str):
        yield key, data
    elif isinstance(data, float):
        yield key, repr(data)


def _private_values(key: str, text: str) -> Iterator[str]:
    """What of a text tells about the user: places, names, folders, files, and codes wherever they stand."""
    if key in _NAMES:
        for part in text.split(","):
            words = _words(part)
            yield from _whole(words)
            yield from ("".join(pair) for pair in pairwise(words) if not any(map(str.isdigit, pair)))
            if key != "address":
                yield from (word for word in words if len(word) >= _SHORTEST)
    elif key in _FILES:
        place = PurePosixPath(text)
        for part in (*place.parent.parts, place.stem):
            yield from _whole(_words(part))
    for word in re.findall(r"\S+@\S+|[\w.-]+", text):
        if "@" in word or (len(_digits(word)) >= 4 and not _YEAR.fullmatch(word)):
            yield "".join(_words(word))
            yield from (run for run in re.findall(r"\d{4,}", word) if not _YEAR.fullmatch(run))


def _whole(words: list[str]) -> Iterator[str]:
    """A name as one word, and without its numbers; nothing where it is short, or nothing but a number."""
    for kept in (words, [word for word in words if not word.isdigit()]):
        joined = "".join(kept)
        if len(joined) >= _SHORTEST and not joined.isdigit():
            yield joined


def _pieces(words: list[str], lengths: Collection[int]) -> set[str]:
    """The words, up to four of them as one, and whatever of these lengths stands in all of them as one."""
    joined = "".join(words)
    several = {"".join(words[at : at + count]) for count in range(1, 5) for at in range(len(words))}
    return several | {joined[at : at + length] for length in lengths for at in range(len(joined) - length + 1)}


def _visible(text: str) -> str:
    """A text in plain forms of its letters, without emoji, Braille and the like, and without what is not seen."""
    plain = _VARIATION.sub("", unicodedata.normalize("NFKC", " ".join(text.split())))
    kept = (letter for letter in plain if letter == "°" or unicodedata.category(letter) not in _UNSENT)
    return " ".join("".join(kept).split())


def _is_code(word: str) -> bool:
    """A word as people don't write them: phonetic, of two alphabets, letters with digits, many digits, very long."""
    alphabets = _ALPHABETS & {unicodedata.name(letter, "").split(" ")[0] for letter in word}
    digits = len(_digits(word))
    mixed = len(alphabets) > 1 or (len(word) >= 6 and 0 < digits < len(word))
    return mixed or digits >= 5 or len(word) > 24 or _PHONETIC.search(word) is not None


def _words(text: str) -> list[str]:
    """Words without case, accents and other forms of the same letter."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return _WORD.findall("".join(letter for letter in plain if unicodedata.category(letter) not in ("Mn", "Cf")))


def _digits(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", text) if letter.isdigit())


def _readings(text: str, depth: int = 2) -> Iterator[str]:
    """A text as it is, and as whoever gets it could read it: unquoted, spelled, reversed, shifted, decoded."""
    yield text
    yield from (_SPELLED.sub("", text), text[::-1], text.translate(_LOOKALIKES))
    yield from (text.lower().translate(_rotation(by)) for by in range(1, 26))
    if depth:
        words = {re.sub(r"[^\w+/=-]", "", text, flags=re.ASCII), *_ENCODED.findall(text)}
        for other in (unquote_plus(text), *chain.from_iterable(map(_decoded, words))):
            if other != text:
                yield from _readings(other, depth - 1)


def _rotation(by: int) -> dict[int, int]:
    return str.maketrans(ascii_lowercase, ascii_lowercase[by:] + ascii_lowercase[:by])


def _decoded(word: str) -> Iterator[str]:
    """What a word says in base 64, 32 or 16, if that is text."""
    bare = word.rstrip("=")
    padded = bare + "=" * (-len(bare) % 8)
    for decode, given in (
        (base64.b64decode, bare.replace("-", "+").replace("_", "/") + "=" * (-len(bare) % 4)),
        (base64.b32decode, padded.upper()),
        (bytes.fromhex, bare),
    ):
        try:
            text = decode(given).decode()
        except ValueError:
            continue
        if len(text) >= 3 and text.isprintable():
            yield text
