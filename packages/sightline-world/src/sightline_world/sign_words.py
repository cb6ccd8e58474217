"""Words that stand on signs."""

from __future__ import annotations

from random import Random

_COMMON = """
BAKERY BOOKS CAFE CINEMA CLOSED COFFEE DANGER EXIT FERRY FISH FLOWERS FRESH FRUIT GARAGE GARDEN GATE GUESTS
HARBOUR HONEY HOTEL ICE LEMONADE LIBRARY MARKET MILK MUSEUM MUSIC NORTH OFFICE OPEN PARK PIANO PIER PIZZA
POLICE POST PUMPKINS QUEUE QUIET RADIO SALE SCHOOL SHOES SHOP SILVER SLOW SOUP SOUTH STATION STOP SUGAR SUNDAY
SWIM TAXI TEA THEATRE TICKETS TOILETS TOURS TOWER TOYS TRAIN VALLEY VIEW VILLAGE WELCOME WEST WINE WOOL ZEBRA
ZOO JAZZ JUNCTION KAYAKS KITES LIFT MAPLE EXPRESS BEACH BRIDGE CASTLE CHEESE CORNER EAST FOREST LAKE LOST
RIVER
"""
PLAIN = tuple(_COMMON.split())
"""Words that one expects on a sign."""
_PARTS = """
B BR C CH D DR F FL G GR H J K KL L M N P PR QU R S SH SL ST T TR V W WH Y Z
A E I O U EA OO AI OU
B CK D F G L LL M N ND NT P R RK RN S SH ST T TH V X
"""
_STARTS, _MIDDLES, _ENDS = (tuple(line.split()) for line in _PARTS.strip().splitlines())
_TAILS = ("", "", "A", "O", "EY", "TON", "FORD", "BURY", "WICK", "HAM")
# Beginnings that would offend someone.
_UNFIT = (
    *("COCK", "COON", "CUM", "DAGO", "DICK", "FAG", "FART", "FUCK", "HOMO", "NIG"),
    *("PIS", "POOF", "RAP", "SHIT", "SLUT", "TIT", "WHOR", "WOG", "YID"),
)


def invented(rng: Random) -> str:
    """A name that nobody knows, of at most nine letters: it can be read but not guessed."""
    word = _UNFIT[0]
    while word.startswith(_UNFIT):
        word = rng.choice(_STARTS) + rng.choice(_MIDDLES) + rng.choice(_ENDS) + rng.choice(_TAILS)
    return word[:9]


def sign_words(rng: Random) -> str:
    """One or two words for a sign, half of them invented."""
    words = [rng.choice(PLAIN) if rng.random() < 0.5 else invented(rng) for _ in range(rng.choice((1, 1, 2)))]
    return " ".join(words)
