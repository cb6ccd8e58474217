"""For a key that is not there: the one that was probably meant."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sightline.errors import UserError, nearest


def unknown_key(key: str, table: str, shape: Mapping[str, Collection[str]], place: str) -> UserError:
    """The error for `key` in `table`, with the nearest right key, or the table that it belongs to."""
    name = f"{table}.{key}" if table else key
    return UserError(f'{place}: unknown key "{name}".', suggest(key, table, shape))


def suggest(key: str, table: str, shape: Mapping[str, Collection[str]]) -> str:
    """Right spelling elsewhere, then nearest spelling here, then nearest elsewhere, then all that is known here."""
    key = key.lower().replace("-", "_")
    homes = [f"[{other}]" for other, keys in shape.items() if other not in ("", table) and key in keys]
    if homes:
        return f'"{key}" belongs in {" or ".join(homes)}.'
    near = nearest(key, shape[table])
    if near is not None:
        return f'Did you mean "{near}"?'
    near = nearest(key, {known for keys in shape.values() for known in keys})
    if near is not None:
        home = next(other for other, keys in shape.items() if near in keys)
        return f'Did you mean "{near}" {f"in [{home}]" if home else "at the top of the file"}?'
    return f"Known {f'in [{table}]' if table else 'at the top of the file'}: {', '.join(shape[table])}."
