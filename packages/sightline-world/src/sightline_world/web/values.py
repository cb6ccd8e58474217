"""Values as answers: other right forms of one."""

from __future__ import annotations

import re

_UNITS = {"m": "metres", "km": "kilometres", "km²": "square kilometres"}


def aliases_of(value: str) -> tuple[str, ...]:
    """Other ways to write it: without an article or quotation marks, numbers without commas and with units in full."""
    forms = [re.sub(r"^the (River )?", "", value), value.strip("“”"), value.replace("–", "-")]
    forms += [value.removesuffix(" FC"), value.removeprefix("the ")]
    match = re.fullmatch(r"([\d,]+)(?: (\S+))?", value)
    if match:
        number, unit = match[1].replace(",", ""), match[2]
        forms += [match[1], number]
        if unit:
            forms += [f"{number} {unit}", f"{number} {_UNITS[unit]}", f"{match[1]} {_UNITS[unit]}"]
    return tuple(dict.fromkeys(form for form in forms if form != value))
