"""`--model constant/A`: a chat model that always gives the same answer, for a baseline that looks at nothing."""

from sightline.models.protocols import CallOutcome
from sightline.models.replies import ReplyText, check_reply
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatRequest


class Constant:
    def __init__(self, model: str) -> None:
        self.endpoint, self._answer = f"constant:{model}", model

    async def send(self, request: ChatRequest) -> CallOutcome:
        return check_reply(ReplyText(f"The final answer is: {self._answer}."), request)

    async def close(self) -> None:
        """Nothing is held open."""


def open_model(model: str, *, base_url: str | None, settings: WireSettings) -> Constant:
    return Constant(model)
