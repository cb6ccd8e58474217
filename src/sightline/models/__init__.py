"""Who answers: chat models and embedders behind two protocols."""

from sightline.models.protocols import CallOutcome, ChatModel, Embedder, Pixels, Transport, Vectors
from sightline.models.providers import leaves_machine, parse_name
from sightline.models.scripted import ScriptedModel
from sightline.models.structured_output import Structured, ask_structured
from sightline.models.thinking import Thinking, split_thinking
from sightline.models.transport_factory import open_transport
from sightline.models.wire_settings import WireSettings

__all__ = [
    "CallOutcome",
    "ChatModel",
    "Embedder",
    "Pixels",
    "ScriptedModel",
    "Structured",
    "Thinking",
    "Transport",
    "Vectors",
    "WireSettings",
    "ask_structured",
    "leaves_machine",
    "open_transport",
    "parse_name",
    "split_thinking",
]
