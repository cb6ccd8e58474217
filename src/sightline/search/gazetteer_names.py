"""Other names of cities and of the states of the USA."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

# The name in the gazetteer, and what the city is called at home, elsewhere, or was called before.
_CITIES = """
Munich: München, Muenchen, Monaco di Baviera
Cologne: Köln, Koeln
Nürnberg: Nuremberg
Hannover: Hanover
Braunschweig: Brunswick
Vienna: Wien, Vienne
Zürich: Zuerich, Zurigo
Genève: Geneva, Genf, Ginevra
Luzern: Lucerne
Basel: Bâle, Basle
Bern: Berne
Rome: Roma, Rom
Milan: Milano, Mailand
Naples: Napoli, Neapel
Turin: Torino
Florence: Firenze, Florenz
Venice: Venezia, Venedig
Genoa: Genova, Genua
Padova: Padua
Livorno: Leghorn
Sevilla: Seville
Zaragoza: Saragossa
San Sebastián: Donostia, Donostia / San Sebastián
Lisbon: Lisboa, Lissabon
Porto: Oporto
Athens: Athína, Athen, Αθήνα
Thessaloníki: Salonica, Θεσσαλονίκη
Prague: Praha, Prag
Pilsen: Plzeň
Warsaw: Warszawa, Warschau
Kraków: Cracow, Krakau
Gdańsk: Danzig
Wrocław: Breslau
Bucharest: București
Belgrade: Beograd, Београд
Sofia: София
Kyiv: Kiev, Київ
Lviv: Lemberg, Lvov
Moscow: Moskva, Москва, Moskau
Saint Petersburg: Leningrad, Санкт-Петербург
Copenhagen: København, Kopenhagen
Gothenburg: Göteborg
Helsinki: Helsingfors
Brussels: Bruxelles, Brussel
Antwerpen: Antwerp, Anvers
Gent: Ghent, Gand
Brugge: Bruges
Liège: Luik, Lüttich
The Hague: Den Haag, 's-Gravenhage
Strasbourg: Straßburg
Istanbul: Constantinople, İstanbul
Tokyo: 東京, Tōkyō, Tokio
Kyoto: 京都
Osaka: 大阪
Yokohama: 横浜
Nagoya: 名古屋
Sapporo: 札幌
Fukuoka: 福岡
Hiroshima: 広島
Kobe: 神戸
Nara: 奈良
Beijing: 北京, Peking
Shanghai: 上海
Guangzhou: 广州, Canton
Shenzhen: 深圳
Chengdu: 成都
Hangzhou: 杭州
Xi’an: Xian, 西安
Nanjing: 南京, Nanking
Hong Kong: 香港
Taipei: 台北, 臺北
Seoul: 서울
Busan: 부산, Pusan
Ho Chi Minh City: Saigon, Thành phố Hồ Chí Minh
Hanoi: Hà Nội
Bangkok: กรุงเทพมหานคร, Krung Thep
Yangon: Rangoon
Mumbai: Bombay
Kolkata: Calcutta
Chennai: Madras
Bengaluru: Bangalore
Cairo: القاهرة, Kairo
Mexico City: Ciudad de México, CDMX
New York City: New York, NYC
Los Angeles: LA
San Francisco: SF
Washington: Washington DC
Québec: Quebec City
"""
_STATES = """
AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware, FL Florida,
GA Georgia, HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, LA Louisiana, ME Maine,
MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi, MO Missouri, MT Montana, NE Nebraska,
NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, ND North Dakota, OH Ohio,
OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island, SC South Carolina, SD South Dakota, TN Tennessee, TX Texas,
UT Utah, VT Vermont, VA Virginia, WA Washington, WV West Virginia, WI Wisconsin, WY Wyoming, DC District of Columbia
"""


@cache
def city_names() -> Mapping[str, str]:
    """From another name of a city to its name in the gazetteer."""
    found: dict[str, str] = {}
    for line in _CITIES.strip().splitlines():
        usual, _, others = line.partition(": ")
        found |= dict.fromkeys(others.split(", "), usual)
    return found


@cache
def state_names() -> Mapping[str, str]:
    """From the two letters of a state (lower case) to its name."""
    states = (state.strip().partition(" ") for state in _STATES.replace("\n", " ").split(","))
    return {code.lower(): name for code, _, name in states}
