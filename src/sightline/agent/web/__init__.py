"""The web as an agent sees it: one protocol, and who answers it (docs/tools.md)."""

from sightline.agent.web.base import Web, WebHit, WebPage, WebPicture
from sightline.agent.web.frozen import FrozenWeb
from sightline.agent.web.offline import OfflineWeb, OfflineWebKind
from sightline.agent.web.opening import open_web

__all__ = ["FrozenWeb", "OfflineWeb", "OfflineWebKind", "Web", "WebHit", "WebPage", "WebPicture", "open_web"]
