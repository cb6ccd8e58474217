"""First sentences and other words of pages that state no fact which could be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "coast": "by the sea",
        "lake": "by a lake",
        "mountain": "in the mountains",
        "desert": "at the edge of a desert",
        "inland": "in the middle of farmland",
    }
)
OPENINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "country": ("{s} is one of the countries of this almanac.", "This page lists what the almanac has on {s}."),
        "region": ("{s} is a region with towns, hills and one main river.", "The region is called {s}."),
        "river": ("{s} is a river.", "This is the entry on {s}, a river well known to anglers."),
        "mountain": ("{s} is a mountain.", "{s} can be seen from far away on a clear day."),
        "town": ("{s} is a town {setting}.", "The town of {s} lies {setting}."),
        "person": ("{s} is known as {what}.", "{s}, {what}, has had an entry since the first edition."),
        "team": ("{s} is a football team.", "{s} is a football club with loyal supporters."),
        "stadium": ("{s} is a football stadium.", "{s} is a ground for football."),
        "season": ("{s} was a season of the football cup.", "This page is about {s}."),
        "match": ("{s} was a match of the football cup.", "This page is about the match {s}."),
        "festival": ("{s} is a yearly festival.", "{s} is a feast with music, stalls and {shape}."),
        "museum": ("{s} is a museum of art.", "{s} shows paintings of the last hundred years."),
        "painting": ("{s} is a painting in oil.", "{s} is one of the better known pictures of its time."),
        "company": ("{s} is a company.", "{s} is a maker of good things for everyday use."),
        "product": ("{s} is {what}.", "Under the name {s} {what} is sold."),
        "breed": ("{s} are a breed.", "{s} are an old breed that is kept on small farms."),
        "dish": ("{s} is a dish.", "{s} is a dish for cold evenings."),
    }
)
_PLACES = (
    "Visitors are advised to come early and to bring good shoes.",
    "School classes come by in spring, and photographers in autumn.",
    "A path with benches leads around it, and takes about two hours.",
)
_GOODS = (
    "Owners praise how easily it can be mended, and that spare parts are still to be had.",
    "It has been sold in many shops, mostly by word of mouth.",
    "Collectors ask for early ones in good order, which are hard to find.",
)
_PERSON = (
    "Letters and notebooks are kept in a private collection and can be seen on request.",
    "Friends speak of patience, a dry sense of humour and a habit of rising early.",
    "A longer account of this life is being prepared by the editors of the almanac.",
    "Little is known about the family, and interviews were rarely given.",
    "A street has not been named yet, though it has been proposed more than once.",
)
_MATCH = (
    "The weather was fair and the grass short.",
    "Reports of the day speak of a lively first half and a long wait for the last train.",
    "Both sides thanked the supporters, who had come in large numbers and stayed to the end.",
    "The entry follows the official sheet, which both captains signed.",
)
_PAINTING = (
    "Restorers have cleaned it once, and found that the colours had hardly faded.",
    "Critics have praised its calm and the care that was given to small things at the edge.",
    "Copies on paper are sold at the entrance, and hang in many kitchens.",
    "It has often been lent to exhibitions abroad, and always came back in good order.",
)
_FARM = (
    "The animals are calm, thrive on poor grass and are seldom ill.",
    "Once a year the best of them are shown at fairs, where judges look at gait and temper.",
    "Not many are left, and a society looks after those that are.",
)
_FOOD = (
    "It is eaten hot, from deep plates, and tastes even better on the second day.",
    "Every family has a recipe of its own and thinks little of the others.",
    "Inns put it on the menu on Thursdays, and it is often gone by noon.",
)
_COMPANY = (
    "Guided tours of the workshops are offered to those who ask in good time.",
    "It has trained apprentices for generations, and many of them stay for life.",
    "Its catalogue is thin, but what is in it lasts.",
)
CLOSINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("region", "river", "mountain", "town", "stadium", "festival", "museum"), _PLACES),
        "person": _PERSON,
        "match": _MATCH,
        "product": _GOODS,
        "painting": _PAINTING,
        "breed": _FARM,
        "dish": _FOOD,
        "company": _COMPANY,
    }
)
"""By kind of entity; they come before `ANY_CLOSINGS`."""
ANY_CLOSINGS = (
    "The entry was checked by the editors for this edition and is kept up to date.",
    "More can be read in the reading rooms of the larger libraries.",
    "Pictures and letters about it are welcome at the almanac's office.",
    "Readers who know more are asked to write to the editors, who check every letter before they print it.",
    "Only what lies within the almanac's reach is told here; for everything else other books are better.",
    "Like all entries this one is short on purpose, and leads on to others.",
)
"""Sentences that fill a page that would be too short."""
