"""The web as an agent sees it: one protocol, and who answers it (docs/tools.md)."""

from sightline.agent.web.base import OfflineWeb, OfflineWebKind, Web, WebHit, WebPage, WebPicture
from sightline.agent.web.factory import FROZEN, find_web, offline_web, open_web
from sightline.agent.web.frozen import FrozenWeb

__all__ = [
    "FROZEN",
    "FrozenWeb",
    "OfflineWeb",
    "OfflineWebKind",
    "Web",
    "WebHit",
    "WebPage",
    "WebPicture",
    "find_web",
    "offline_web",
    "open_web",
]
