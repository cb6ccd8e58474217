"""What every table of the configuration shares: strictness, and the types that TOML has no word for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, SecretStr, Strict

# Files have lists and strings where we have tuples and paths, so these two are not strict.
Strings: TypeAlias = Annotated[tuple[str, ...], Strict(False)]
FilePath: TypeAlias = Annotated[Path, Strict(False), AfterValidator(Path.expanduser)]


class StrictModel(BaseModel):
    """A table of `sightline.toml`: unknown keys and wrong types are errors, and nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, hide_input_in_errors=True)


class Hidden(SecretStr):
    """A secret; `get_secret_value()` is the only way to read it, printed it is `***`."""

    def __str__(self) -> str:
        return "***"

    def __repr__(self) -> str:
        return "Hidden('***')"


Secret: TypeAlias = Annotated[Hidden, PlainSerializer(lambda _: "***", return_type=str, when_used="json")]


def environment_field(description: str, *variables: str) -> Any:
    """A field that these well-known variables also set, the first of them that is there."""
    return Field(None, description=description, json_schema_extra={"environment": list(variables)})
