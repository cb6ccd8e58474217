"""Units of measure: names in English and Chinese, what they measure, and how they convert."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache


@dataclass(frozen=True, slots=True)
class AnswerUnit:
    """`value × factor + offset` is the value in the base unit of the dimension; a scale ("k") has no dimension."""

    name: str
    dimension: str
    factor: Fraction
    offset: Fraction = Fraction(0)


# One line for each unit: factor to the base unit (with offset for temperatures), then every name.
# Names are matched in their own case first, then in any case, so that Mb and MB, or m and M, stay apart.
_TABLE: dict[str, str] = {
    "length": """
        1e-9 nm nanometre nanometer nanometres nanometers 纳米
        1e-6 um μm micron microns micrometre micrometer micrometres micrometers 微米
        0.001 mm millimetre millimeter millimetres millimeters 毫米
        0.01 cm centimetre centimeter centimetres centimeters 厘米 公分
        0.1 dm decimetre decimeter 分米
        1 m metre meter metres meters 米 公尺
        1000 km kms kilometre kilometer kilometres kilometers 公里 千米
        500 里
        0.0254 in inch inches 英寸
        0.3048 ft foot feet 英尺
        0.9144 yd yds yard yards 码
        1609.344 mi mile miles 英里
        1852 nmi nautical-mile nautical-miles 海里
        149597870700 au AU astronomical-unit astronomical-units 天文单位
        9460730472580800 ly light-year light-years lightyear lightyears 光年""",
    "mass": """
        1e-6 mg milligram milligrams 毫克
        0.001 g gram grams gramme grammes 克
        1 kg kgs kilo kilos kilogram kilograms 公斤 千克
        1000 t tonne tonnes metric-ton metric-tons ton tons 吨
        0.5 斤
        0.45359237 lb lbs pound-mass pounds-mass 磅
        0.028349523125 oz ounce ounces 盎司
        6.35029318 stone stones""",
    "time": """
        0.001 ms millisecond milliseconds 毫秒
        1 s sec secs second seconds 秒 秒钟
        60 min mins minute minutes 分钟 分
        3600 h hr hrs hour hours 小时 个小时 时
        86400 d day days 天 日
        604800 week weeks wk wks 周 星期 个星期""",
    "calendar": """
        1 month months 个月 月
        3 quarter quarters 季度
        12 yr yrs year years year-old years-old years-of-age 年 岁 周岁
        120 decade decades 年代
        1200 century centuries 世纪""",
    "area": """
        1e-6 mm^2 mm2 平方毫米
        0.0001 cm^2 cm2 square-centimetre square-centimeter square-centimetres square-centimeters 平方厘米
        1 m^2 m2 sqm sq-m square-metre square-meter square-metres square-meters 平方米 平米
        1e6 km^2 km2 sq-km square-kilometre square-kilometer square-kilometres square-kilometers 平方公里 平方千米
        10000 ha hectare hectares 公顷
        4046.8564224 acre acres 英亩
        0.09290304 ft^2 ft2 sqft sq-ft square-foot square-feet 平方英尺
        2589988.110336 mi^2 mi2 sq-mi square-mile square-miles 平方英里""",
    "volume": """
        1 l L litre liter litres liters 升 公升
        0.01 cl centilitre centiliter centilitres centiliters
        0.001 ml mL millilitre milliliter millilitres milliliters cm^3 cm3 cc 毫升 立方厘米
        1000 m^3 m3 cubic-metre cubic-meter cubic-metres cubic-meters 立方米
        3.785411784 gal gallon gallons 加仑
        0.473176473 pint pints
        0.0295735295625 fl-oz fluid-ounce fluid-ounces""",
    "speed": """
        1 m/s mps metres/second meters/second metres-per-second meters-per-second 米/秒 米每秒
        5/18 km/h kmh kph kmph kilometres/hour kilometers/hour kilometres-per-hour kilometers-per-hour km-per-hour
        5/18 公里/小时 千米/小时 公里每小时 千米每小时
        0.44704 mph miles/hour miles-per-hour 英里/小时
        463/900 kn knot knots kt kts 节""",
    "data": """
        1 bit bits
        8 B byte bytes 字节
        1000 kb Kb kbit kilobit kilobits
        1e6 Mb Mbit megabit megabits
        1e9 Gb Gbit gigabit gigabits
        8000 KB kB kilobyte kilobytes
        8e6 MB megabyte megabytes 兆
        8e9 GB gigabyte gigabytes
        8e12 TB terabyte terabytes
        8192 KiB
        8388608 MiB
        8589934592 GiB""",
    "frequency": """
        1 Hz hertz 赫兹
        1000 kHz kilohertz
        1e6 MHz megahertz
        1e9 GHz gigahertz""",
    "power": """
        1 W watt watts 瓦
        1000 kW kilowatt kilowatts 千瓦
        1e6 MW megawatt megawatts 兆瓦
        745.69987158227 hp horsepower 马力""",
    "energy": """
        1 J joule joules 焦耳
        1000 kJ kilojoule kilojoules 千焦
        4184 kcal kilocalorie kilocalories calories 千卡 大卡
        3600000 kWh kilowatt-hour kilowatt-hours 千瓦时 度电""",
    "angle": """
        1 ° degree degrees deg 度""",
    "pixels": """
        1 px pixel pixels 像素
        1e6 MP megapixel megapixels 百万像素""",
    "temperature": """
        1 °C degrees-Celsius degree-Celsius degrees-C Celsius C 摄氏度
        5/9|-160/9 °F degrees-Fahrenheit degree-Fahrenheit degrees-F Fahrenheit F 华氏度
        1|-273.15 K kelvin kelvins 开尔文""",
    "ratio": """
        0.01 % percent per-cent pct percentage-points percentage-point
        0.001 ‰ permille""",
    "ordinal": """
        1 st nd rd th""",
    "scale": """
        1000 k K
        1e6 m M mn mio mln
        1e9 b B bn
        1e12 tn""",
    "usd": "1 USD US$ US-dollars US-dollar $ dollars dollar bucks 美元 美金\n0.01 cents cent ¢ 美分",
    "eur": "1 EUR € euro euros 欧元\n0.01 cents cent",
    "gbp": "1 GBP £ pounds pound pounds-sterling quid 英镑\n0.01 pence p",
    "cny": "1 CNY RMB ¥ yuan 元 人民币 块 块钱 元人民币\n0.1 角\n0.01 分",
    "jpy": "1 JPY ¥ yen 日元",
    "krw": "1 KRW ₩ won 韩元",
    "inr": "1 INR ₹ rupees rupee Rs 卢比",
    "hkd": "1 HKD HK$ $ dollars 港元 港币",
    "aud": "1 AUD A$ $ dollars 澳元",
    "cad": "1 CAD C$ $ dollars 加元",
    "chf": "1 CHF francs franc 瑞士法郎",
    "rub": "1 RUB ₽ rubles roubles 卢布",
}
# More than one meaning where the name alone does not decide: "20 degrees", "5 pounds".
_EXTRA_MEANINGS = {
    "degrees": ("°C", "°F"),
    "degree": ("°C", "°F"),
    "°": ("°C", "°F"),
    "度": ("°C", "°F"),
    "pounds": ("lb",),
    "pound": ("lb",),
}
# Measure words: they count things and add no meaning to the number.
COUNTERS = frozenset("个只条张人位名辆座层次件种头匹棵朵本台架艘颗枚根支把双对套间家所幅块片栋幢")


def units_named(name: str, *, own_case: bool = False) -> tuple[AnswerUnit, ...]:
    """What a unit's name may mean, the likeliest first; empty if it is not known (in its own case, if so asked)."""
    exact, any_case = _names()
    key = re.sub(r"[\s.-]+", "-", re.sub(r"\s*/\s*", "/", name.strip())).strip("-")
    return exact.get(key) or (() if own_case else any_case.get(key.casefold(), ()))


def unit_after(text: str, start: int) -> tuple[str, int] | None:
    """The longest unit name that begins at `start` (after spaces or a hyphen), and where it ends."""
    found = _pattern().match(text, start)
    return None if found is None else (found["unit"], found.end())


def unit_before(text: str, end: int) -> tuple[str, int] | None:
    """The currency written before a number that begins at `end`, and where it starts."""
    found = _currency_pattern().search(text, max(0, end - 8), end)
    return None if found is None else (found["unit"], found.start())


@cache
def _names() -> tuple[dict[str, tuple[AnswerUnit, ...]], dict[str, tuple[AnswerUnit, ...]]]:
    exact: dict[str, list[AnswerUnit]] = {}
    for dimension, lines in _TABLE.items():
        for line in filter(None, map(str.strip, lines.splitlines())):
            size, *names = line.split()
            factor, _, offset = size.partition("|")
            unit = AnswerUnit(names[0], dimension, Fraction(factor), Fraction(offset or 0))
            for name in names:
                exact.setdefault(name, []).append(unit)
    for name, meanings in _EXTRA_MEANINGS.items():
        exact[name] += [exact[meaning][0] for meaning in meanings]
    any_case: dict[str, list[AnswerUnit]] = {}
    for name, units in exact.items():
        any_case.setdefault(name.casefold(), []).extend(units)
    return _frozen(exact), _frozen(any_case)


def _frozen(names: dict[str, list[AnswerUnit]]) -> dict[str, tuple[AnswerUnit, ...]]:
    return {name: tuple(units) for name, units in names.items()}


@cache
def _pattern() -> re.Pattern[str]:
    exact, _ = _names()
    names = sorted(exact, key=len, reverse=True)
    latin = "|".join(_spelled(name) for name in names if name[-1].isascii() and name[-1].isalnum())
    signs = "|".join(_spelled(name) for name in names if not (name[-1].isascii() and name[-1].isalnum()))
    return re.compile(rf"[ -]?(?P<unit>(?:{latin})(?![A-Za-z0-9^])|(?:{signs}))\.?", re.IGNORECASE)


@cache
def _currency_pattern() -> re.Pattern[str]:
    names = [
        name
        for name, units in _names()[0].items()
        if len(units[0].dimension) == 3 and (name.isupper() or not name[-1].isalnum())
    ]
    return re.compile(
        rf"(?:(?<![A-Za-z])(?P<unit>{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))}))[ ]?$"
    )


def _spelled(name: str) -> str:
    return re.escape(name).replace(r"\-", r"[\s.-]+").replace("/", r"\s*/\s*")
