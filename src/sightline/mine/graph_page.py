"""A memory graph to look at: one self-contained page with an SVG, no script and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from sightline.mine.graph import Edge, MemoryGraph

_WIDE, _ROW, _TOP, _LEFT, _RIGHT = 1200, 34, 30, 250, 40
_MOST_EVENTS = 60
"""Events of an owner that are drawn; a history of more is told in figures."""
_MOST_LINKS = 400
"""Arcs of a drawing: more would hide each other."""
_STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--faint:#8894a6;--back:#fff;--event:#dfe6f0;--link:#b3541e}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--faint:#8894a6;--back:#14181f;--event:#2a3342;--link:#f0a060}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:2rem auto;max-width:1240px;
padding:0 1rem}svg{width:100%;height:auto}text{font-size:12px;fill:var(--ink)}.event{fill:var(--event)}
.photo{fill:var(--faint)}.link{stroke:var(--link);fill:none;opacity:.28}.link:hover{opacity:1;stroke-width:3}
table{border-collapse:collapse}td{padding:0 1rem 0 0}
"""


def graph_page(graph: MemoryGraph) -> str:
    """The page: figures, and for each owner the events in order of time with the links between their photos."""
    body = "".join(_owner(graph, owner) for owner in graph.owners)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Memory graph</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style></head><body>'
        f"<h1>Memory graph</h1>{_figures(graph)}{body}</body></html>"
    )


def owner_svg(graph: MemoryGraph, owner: str) -> str:
    """One owner's events as rows of photos, and an arc for each association between two events."""
    events = [event for event in graph.events.values() if event.owner == owner][:_MOST_EVENTS]
    at: dict[str, tuple[float, float]] = {}
    rows = []
    for row, event in enumerate(events):
        y = _TOP + row * _ROW
        step = (_WIDE - _LEFT - _RIGHT) / max(len(event.photos), 1)
        for place, photo in enumerate(event.photos):
            at[photo] = (_LEFT + step * (place + 0.5), y)
        rows.append(_row(graph, event.id, y, at))
    links = "".join(_arcs(graph, at))
    high = _TOP + _ROW * max(len(events), 1)
    return f'<svg viewBox="0 0 {_WIDE} {high}" role="img" aria-label="{escape(owner)}">{"".join(rows)}{links}</svg>'


def _figures(graph: MemoryGraph) -> str:
    stats = graph.stats()
    told = {
        **{f"{name} nodes": count for name, count in stats["nodes"].items()},
        **{f"{name} edges": count for name, count in stats["edges"].items()},
        **{f"accepted by: {name}": count for name, count in stats["rules"].items()},
        "associations across events": stats["across_events"],
        "comparisons refused": stats["refused"],
    }
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{count:,}</td></tr>" for name, count in told.items())
    return f"<table>{rows}</table>"


def _owner(graph: MemoryGraph, owner: str) -> str:
    count = sum(event.owner == owner for event in graph.events.values())
    more = f"<p>The first {_MOST_EVENTS} of {count:,} events.</p>" if count > _MOST_EVENTS else ""
    return f"<h2>{escape(owner)}</h2>{more}{owner_svg(graph, owner)}"


def _row(graph: MemoryGraph, event: str, y: float, at: Mapping[str, tuple[float, float]]) -> str:
    photos = graph.events[event].photos
    first = graph.photos[photos[0]]
    name = f"{first.taken_at[:10]} {(first.address or '').rpartition(',')[0].rpartition(',')[2].strip()}"
    bar = f'<rect class="event" x="{_LEFT}" y="{y - 9:.0f}" width="{_WIDE - _LEFT - _RIGHT}" height="18" rx="9"/>'
    dots = "".join(
        f'<circle class="photo" cx="{at[id_][0]:.1f}" cy="{y:.0f}" r="4"><title>{_told(graph, id_)}</title></circle>'
        for id_ in photos
    )
    return f'<text x="4" y="{y + 4:.0f}">{escape(name[:36])}</text>{bar}{dots}'


def _told(graph: MemoryGraph, photo: str) -> str:
    found = graph.photos[photo]
    return escape(f"{photo} · {found.taken_at[:16]} · {found.summary}"[:300])


def _arcs(graph: MemoryGraph, at: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """An arc for each link; of very many, every so-manieth."""
    links = [(edge, ends) for edge in graph.edges if (ends := _ends(graph, edge, at)) is not None]
    for edge, ((x0, y0), (x1, y1)) in links[:: -(-len(links) // _MOST_LINKS) or 1]:
        bend = min(_WIDE - 2.0, max(x0, x1) + min(160.0, 20 + abs(y1 - y0) / 3))
        clue = graph.clues[edge.source.id]
        why = escape(f"{clue.text} · {edge.rule} · {edge.why}"[:300])
        curve = f"M{x0:.0f},{y0:.0f} C{bend:.0f},{y0:.0f} {bend:.0f},{y1:.0f} {x1:.0f},{y1:.0f}"
        yield f'<path class="link" d="{curve}"><title>{why}</title></path>'


def _ends(
    graph: MemoryGraph, edge: Edge, at: Mapping[str, tuple[float, float]]
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Where an association between two drawn events begins and ends."""
    if edge.kind != "association":
        return None
    source = graph.clues[edge.source.id].picture
    crosses = graph.photos[source].event != graph.photos[edge.target.id].event
    return (at[source], at[edge.target.id]) if crosses and source in at and edge.target.id in at else None
