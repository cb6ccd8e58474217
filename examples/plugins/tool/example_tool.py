"""The tool `Season`, for agents and for `sightline mcp`: in which season of the north a photo was taken."""

from sightline.agent.state import AgentState
from sightline.agent.tools.arguments import ToolArguments, spec, text_field
from sightline.agent.tools.base import FunctionTool, Materials, Observation, Tool, ToolKind, mistake

SEASON = spec("Season", "Tell the season in which a photo was taken.", {"photo": text_field("its id")}, "photo")
NAMES = ("winter", "spring", "summer", "autumn")


def open_tool(materials: Materials) -> Tool:
    def work(given: ToolArguments, state: AgentState) -> Observation:
        picture = materials.pictures.get(given.text("photo"))
        if picture is None or picture.taken_at is None:
            return mistake("there is no photo of that id that has a date.")
        return Observation(NAMES[picture.taken_at.month % 12 // 3], found=(picture.id,))

    return FunctionTool(SEASON, work)


KIND = ToolKind("Season", "the season of a photo", open_tool)
