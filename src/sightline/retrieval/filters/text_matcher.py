"""Tests on text: words, whole values with wildcards, and addresses. All take folded text.

A country is found under any of the names by which it is asked for, or by which addresses mention it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from sightline.retrieval.bm25 import fold
from sightline.retrieval.filters.tree import FilterError, Value

_WORDS = re.compile(r"\w+")

# One line a country: its usual name, what else it is called, and after "+" parts of it that addresses name instead.
_LINES = """
United States: USA, US, United States of America, America, Estados Unidos, États-Unis, Vereinigte Staaten, 美国, США
United Kingdom: UK, GB, Great Britain, Britain, Großbritannien, 英国 + England, Scotland, Wales, Northern Ireland
Germany: Deutschland, Allemagne, Alemania, Germania, Duitsland, ドイツ, 德国
France: Frankreich, Francia, França, Frankrijk, フランス, 法国
Spain: España, Spanien, Espagne, Spagna, スペイン, 西班牙
Italy: Italia, Italien, Italie, イタリア, 意大利
Portugal: ポルトガル, 葡萄牙
Netherlands: The Netherlands, Holland, Nederland, Niederlande, Pays-Bas, Países Bajos, オランダ, 荷兰
Belgium: België, Belgique, Belgien, Bélgica, Belgio
Luxembourg: Luxemburg, Lëtzebuerg
Switzerland: Schweiz, Suisse, Svizzera, Suiza, スイス, 瑞士
Austria: Österreich, Autriche, オーストリア, 奥地利
Ireland: Éire, Republic of Ireland, Irland, Irlande, Irlanda
Denmark: Danmark, Dänemark, Danemark, Dinamarca
Norway: Norge, Norwegen, Norvège, Noruega
Sweden: Sverige, Schweden, Suède, Suecia
Finland: Suomi, Finnland, Finlande, Finlandia
Iceland: Ísland, Island, Islande
Poland: Polska, Polen, Pologne, Polonia
Czechia: Czech Republic, Česko, Česká republika, Tschechien, Tchéquie
Slovakia: Slovensko, Slowakei
Hungary: Magyarország, Ungarn, Hongrie
Romania: România, Rumänien, Roumanie
Bulgaria: България, Bulgarien, Bulgarie
Greece: Ελλάδα, Hellas, Griechenland, Grèce, Grecia
Turkey: Türkiye, Türkei, Turquie, Turquía
Croatia: Hrvatska, Kroatien, Croatie
Slovenia: Slovenija, Slowenien
Serbia: Србија, Srbija, Serbien
Estonia: Eesti, Estland
Latvia: Latvija, Lettland
Lithuania: Lietuva, Litauen
Ukraine: Україна, Ukraina
Russia: Россия, Russian Federation, Russland, Russie, Rusia, ロシア, 俄罗斯
Japan: 日本, Nippon, Japon, Japón, Giappone
China: 中国, 中國, PRC, People's Republic of China, Chine, Kina
Taiwan: 台湾, 臺灣, 台灣
Hong Kong: 香港, HK
South Korea: 대한민국, 한국, Republic of Korea, ROK, Corée du Sud, Südkorea, 韓国, 韩国
North Korea: DPRK, 조선민주주의인민공화국, 북한, Corée du Nord, Nordkorea
India: भारत, Bharat, Indien, Inde, インド, 印度
Thailand: ประเทศไทย, ไทย, Thaïlande, タイ, 泰国
Vietnam: Việt Nam, Viet Nam, ベトナム, 越南
Indonesia: Indonesien, Indonésie, インドネシア
Malaysia: マレーシア, 马来西亚
Singapore: Singapur, Singapour, シンガポール, 新加坡
Philippines: Pilipinas, The Philippines, フィリピン, 菲律宾
Nepal: नेपाल
Mongolia: Монгол Улс
United Arab Emirates: UAE, الإمارات العربية المتحدة, Emirates
Saudi Arabia: KSA, السعودية
Iran: ایران
Israel: ישראל
Jordan: الأردن
Egypt: مصر, Ägypten, Égypte, Egipto
Morocco: Maroc, المغرب, Marokko, Marruecos
Tunisia: Tunisie, تونس
Algeria: Algérie, الجزائر
South Africa: Suid-Afrika, RSA
Canada: カナダ, 加拿大
Mexico: México, Mexique, Mexiko, メキシコ, 墨西哥
Brazil: Brasil, Brésil, Brasilien, ブラジル, 巴西
Argentina: Argentinien, Argentine
Peru: Perú, Pérou
Dominican Republic: República Dominicana
Australia: Australien, Australie, オーストラリア, 澳大利亚
New Zealand: Aotearoa, NZ, Neuseeland, Nouvelle-Zélande, ニュージーランド, 新西兰
Guinea: Guinée
Sudan: السودان
Samoa:
Georgia: საქართველო
Niger:
Congo: Republic of the Congo
DR Congo: DRC, Democratic Republic of the Congo
"""


def key_of(name: str) -> str:
    """A name as it is looked up: `U.S.A.` and `usa` are the same, `The Netherlands` and `Netherlands` too."""
    folded = fold(name)
    # Most names are one word.
    return folded if folded.isalpha() else " ".join(_WORDS.findall(folded.replace(".", ""))).removeprefix("the ")


def same_country(name: str) -> frozenset[str] | None:
    """The keys of all names of the country that is called so, and of its parts; None if no country is."""
    return _names().get(key_of(name))


@cache
def _names() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _LINES.strip().splitlines():
        whole, _, parts = line.partition("+")
        usual, _, others = whole.partition(":")
        names = [key_of(name) for name in (usual, *others.split(",")) if name.strip()]
        everything = frozenset((*names, *(key_of(part) for part in parts.split(",") if part.strip())))
        found |= dict.fromkeys(names, everything)
    return found


Test: TypeAlias = Callable[[str], bool]

# Scripts that put no space between words: there a name may stand anywhere.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SEPARATORS = re.compile(r"[,;/\n()|、，・]| - ")
_NUMBERED = re.compile(r"\S*\d\S*")


def any_whole_value(values: Sequence[Value]) -> Test:
    """The whole text is one of the values, in which `*` is any text and `?` any character."""
    wanted = {fold(value.text) for value in values}
    patterns = [_pattern(text) for text in sorted(wanted) if "*" in text or "?" in text]
    if not patterns:
        return wanted.__contains__
    return lambda text: text in wanted or any(pattern.fullmatch(text) for pattern in patterns)


def _pattern(wanted: str) -> re.Pattern[str]:
    first, *others = (".".join(map(re.escape, piece.split("?"))) for piece in wanted.split("*"))
    if not others:
        return re.compile(first, re.DOTALL)
    # Atomic groups: a piece is taken where it first stands, so that many wildcards cost no more than one.
    middle = "".join(f"(?>.*?{piece})" for piece in others[:-1])
    return re.compile(f"{first}{middle}.*{others[-1]}", re.DOTALL)


def words(value: Value) -> Test:
    """All parts of the value (separated by commas) stand in the text as whole words; `*` at an end leaves it open."""
    return _all([_phrase(part) for part in _parts(value)])


def address(value: Value) -> Test:
    """As `words`, except that a country is found under any of its names, and not inside another name (New Mexico)."""
    return _all([_country(part) or _phrase(part) for part in _parts(value)])


def _parts(value: Value) -> list[str]:
    parts = [part for part in map(str.strip, value.text.split(",")) if part]
    if not parts:
        raise FilterError("no words to look for", value.at, "use has(field) to ask whether there is anything")
    return parts


def _all(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda text: all(test(text) for test in tests)


def _phrase(part: str) -> Test:
    wanted = fold(part)
    tokens = _WORDS.findall(wanted)
    if not tokens:
        return lambda text: wanted in text
    matcher = re.compile(
        _edge(tokens[0][0], wanted.startswith("*"), "(?<!{})")
        + r"[\W_]+".join(map(re.escape, tokens))
        + _edge(tokens[-1][-1], wanted.endswith("*"), "(?!{})")
    )
    # Most texts hold not even the first word, and looking for that is much faster.
    first = tokens[0]
    return lambda text: first in text and matcher.search(text) is not None


def _edge(character: str, is_open: bool, form: str) -> str:
    return "" if is_open or _UNSPACED.match(character) else form.format(r"[^\W_]")


def _country(part: str) -> Test | None:
    names = same_country(part)
    if names is None:
        return None
    mentioned = re.compile("|".join(map(_mention, sorted(names))))
    anywhere = _phrase(part)
    unspaced = tuple(name for name in names if _UNSPACED.match(name))

    def test(text: str) -> bool:
        # Most addresses do not mention it at all, and that is quickly seen.
        if mentioned.search(text) is None:
            return False
        pieces = _SEPARATORS.split(text)
        if len(pieces) == 1 and (anywhere(text) or text.startswith(unspaced)):
            return True
        return any(mentioned.search(piece) and key_of(_NUMBERED.sub("", piece)) in names for piece in pieces)

    return test


def _mention(name: str) -> str:
    """A pattern for all that `key_of` turns into a text with this name in it."""
    return r"[\W_]+".join(r"\.*".join(map(re.escape, word)) for word in name.split())
