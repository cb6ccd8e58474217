"""benchmaker's configuration files: its keys, of both of its generations, and the settings that they stand for here.

What has no counterpart is listed, and a misspelt key is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from sightline.config.schema import KeyPath, leaves
from sightline.config.sources import GivenValue, Place, SettingsLayer, Unmapped, not_a_table, unknown_key
from sightline.errors import UserError

_KEYS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
COUNTERPARTS: Mapping[str, tuple[str, ...]] = {key: tuple(ours) for key, ours in _KEYS["counterparts"].items()}
NO_COUNTERPART: Mapping[str, str] = _KEYS["no_counterpart"]

PROVIDERS: Mapping[str, str] = {"openai": "openai", "local_clip": "transformers"}
"""benchmaker's adapters, and the provider part of our model names."""


_STAGES = ("vision_config", "judge_config", "similarity_config")
_TIERS = ("plan.positives", "plan.neutrals", "plan.hard", "plan.near", "plan.easy", "plan.random")
_TOTAL = "query_plan_neg_total"
_NEGATIVES = ("query_plan_neg_hard", "query_plan_neg_nearmiss", "query_plan_neg_easy")


@cache
def shape() -> Mapping[str, tuple[str, ...]]:
    """benchmaker's keys by table; "" is the top of the file."""
    tables: dict[str, tuple[str, ...]] = {"": _STAGES}
    for name in (*COUNTERPARTS, *NO_COUNTERPART):
        table, _, key = name.rpartition(".")
        tables[table] = (*tables.get(table, ()), key)
    return tables


def translate(data: Mapping[str, Any], source: str, place: Place, ours: Mapping[KeyPath, GivenValue]) -> SettingsLayer:
    """The settings that benchmaker's keys stand for, added to `ours`, which win where both speak."""
    translation = _Translation(data, source, place, dict(ours))
    for key, value in translation.with_whole_model_names().items():
        translation.take(key, value)
    translation.check_negatives()
    translation.imply()
    return SettingsLayer(
        translation.values, translation.mapped, tuple(translation.unmapped), tuple(translation.warnings)
    )


def flatten(data: Mapping[str, Any], place: Place) -> tuple[dict[str, Any], list[UserError]]:
    """benchmaker's values by dotted key, and what is wrong with the keys; null means that nothing is said."""
    flat: dict[str, Any] = {}
    problems: list[UserError] = []
    for key, value in data.items():
        if key not in _STAGES:
            flat[key] = value
        elif isinstance(value, Mapping):
            unknown = [inner for inner in value if inner not in shape()[key]]
            problems.extend(unknown_key(inner, key, shape(), place((key, inner))) for inner in unknown)
            flat |= {f"{key}.{inner}": inner_value for inner, inner_value in value.items()}
        elif value is not None:
            problems.append(not_a_table(key, place((key,))))
    return {key: value for key, value in flat.items() if value is not None}, problems


@dataclass(slots=True)
class _Translation:
    """Our settings as they come together, key by key."""

    flat: Mapping[str, Any]
    source: str
    place: Place
    values: dict[KeyPath, GivenValue]
    mapped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unmapped: list[Unmapped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def with_whole_model_names(self) -> dict[str, Any]:
        """Adapter and model become one name, such as `openai/gpt-5-mini`."""
        flat = dict(self.flat)
        for stage in _STAGES:
            adapter_key = f"{stage}.adapter"
            adapter = flat.pop(adapter_key, None)
            key = next((key for key in (f"{stage}.model", f"{stage}.model_name") if key in flat), None)
            if key is not None and isinstance(adapter, str) and isinstance(flat[key], str):
                flat[key] = f"{self._provider(adapter, adapter_key)}/{flat[key]}"
                self.mapped[adapter_key] = COUNTERPARTS[adapter_key]
            elif adapter is not None:
                self.unmapped.append(Unmapped(adapter_key, "no model is named that it could be asked for"))
        return flat

    def take(self, key: str, value: Any) -> None:
        """One key, by the table; where two keys set the same thing, the first one wins."""
        if key in NO_COUNTERPART:
            self.unmapped.append(Unmapped(key, NO_COUNTERPART[key]))
            return
        used = []
        for ours in COUNTERPARTS[key]:
            held = self._hold(key, ours, value)
            if held is None or held.value == value:
                used.append(ours)
            else:
                self.unmapped.append(Unmapped(key, f"{held.name} sets {ours} to something else, and wins"))
        if used:
            self.mapped[key] = tuple(used)

    def check_negatives(self) -> None:
        """benchmaker refuses a total that is not the sum; here it changes nothing, so it is only said."""
        total, parts = self.flat.get(_TOTAL), [self.flat.get(key, 0) for key in _NEGATIVES]
        if isinstance(total, int) and all(isinstance(part, int) for part in parts) and total != sum(parts):
            self.warnings.append(
                f"{self._place(_TOTAL)}: {_TOTAL} is {total}, but hard, near-miss and easy negatives add up to "
                f"{sum(parts)}, which is what is used"
            )

    def imply(self) -> None:
        """What benchmaker does where its file says nothing, if we would do otherwise."""
        targets = {ours for mapped in self.mapped.values() for ours in mapped}
        if targets.intersection(_TIERS):
            for tier in _TIERS:
                self._set_default(tier, 0)
        if self.flat.get("similarity_config.adapter") == "local_clip":
            self._set_default("columns.similarity", "clip_score")

    def _provider(self, adapter: str, key: str) -> str:
        if adapter not in PROVIDERS:
            self.warnings.append(
                f'{self._place(key)}: adapter "{adapter}" is not one of benchmaker\'s ({", ".join(PROVIDERS)}); '
                "it is taken as the provider's name"
            )
        return PROVIDERS.get(adapter, adapter)

    def _hold(self, key: str, ours: str, value: Any) -> GivenValue | None:
        path = tuple(ours.split("."))
        if not leaves()[path].given(value):
            return None
        return self.values.setdefault(path, GivenValue(value, self.source, key, self._place(key)))

    def _set_default(self, ours: str, value: Any) -> None:
        self.values.setdefault(tuple(ours.split(".")), GivenValue(value, self.source, ours, self.source))

    def _place(self, key: str) -> str:
        return self.place(tuple(key.split(".")))
