"""Names by which a country is asked for, and names by which addresses mention it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from sightline.search.folding import fold

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
