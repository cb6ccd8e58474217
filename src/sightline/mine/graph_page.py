"""A memory graph to look at without the app: one self-contained page, no script and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from sightline.english import counted
from sightline.mine.graph import EventNode, MemoryGraph
from sightline.mine.graph_drawing import LEGEND, ROWS, RULES, Arc, Link, arcs_of, curves, figures_of, links_of, title_of

_ROW, _WIDE = 56, 110
_REASONS = 12
"""Links of an event that are told with their reasons; `sightline view` has them all."""
_STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--quiet:#5b6673;--back:#fff;--row:#eef1f5;--link:#b3541e}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--quiet:#9aa6b2;--back:#14181f;--row:#232b37;--link:#f0a060}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:2rem auto;max-width:70rem;
padding:0 1rem}.drawn{display:flex}.drawn svg{flex:none}ol{list-style:none;margin:0;padding:0;flex:1;min-width:0}
ol li{height:56px;padding:4px 0;box-sizing:border-box}ol div{background:var(--row);border-radius:8px;padding:0 10px;
height:48px;line-height:24px;overflow:hidden}ol div span{display:block;white-space:nowrap;overflow:hidden;
text-overflow:ellipsis}.link{stroke:var(--link);fill:none;opacity:.4}
.link:hover{opacity:1}.dots{letter-spacing:.15em;color:var(--quiet)}
"""


def graph_page(graph: MemoryGraph) -> str:
    """The page: figures, and for each owner the events in order of time with what joins them."""
    links = links_of(graph)
    body = "".join(_owner(graph, links, owner) for owner in graph.owners)
    figures = ", ".join(f"{number:,} {what}" for number, what in figures_of(graph) if number)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Memory graph</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style></head><body>'
        f"<h1>Memory graph</h1><p>{figures}.</p><p>{LEGEND} A dot is a picture; <code>sightline view</code> shows them."
        f"</p>{body}</body></html>"
    )


def _owner(graph: MemoryGraph, links: Sequence[Link], owner: str) -> str:
    events = [event for event in graph.events.values() if event.owner == owner]
    drawn = events[:ROWS]
    arcs = arcs_of(graph, links, drawn)
    more = f"<p>The first {ROWS} of {counted(len(events), 'event')}.</p>" if len(events) > ROWS else ""
    rows = "".join(map(_row, (title_of(graph, event) for event in drawn), drawn))
    reasons = "".join(_reasons(graph, drawn, arcs))
    return (
        f'<h2>{escape(owner)}</h2>{more}<div class="drawn">{_drawing(arcs, len(drawn))}<ol>{rows}</ol></div>'
        f"{'<h3>What joins them</h3>' if reasons else ''}{reasons}"
    )


def _row(title: str, event: EventNode) -> str:
    count = len(event.photos)
    dots = f'<span class="dots" aria-hidden="true">{"•" * min(count, 60)}</span>'
    return f"<li><div><span>{escape(title)} · {counted(count, 'picture')}</span>{dots}</div></li>"


def _drawing(arcs: Sequence[Arc], rows: int) -> str:
    drawn = "".join(
        f'<path class="link" d="{path}" stroke-width="{thick:.1f}"><title>{escape(arc.told[:300])}</title></path>'
        for arc, path, thick in curves(arcs, _ROW, _WIDE)
    )
    label = counted(len(arcs), "pair of events that something joins", "pairs of events that something joins")
    return f'<svg width="{_WIDE}" height="{_ROW * rows}" role="img" aria-label="{label}">{drawn}</svg>'


def _reasons(graph: MemoryGraph, events: Sequence[EventNode], arcs: Sequence[Arc]) -> Iterator[str]:
    titles = [escape(title_of(graph, event)) for event in events]
    for arc in arcs:
        told = "".join(f"<li>{_reason(link)}</li>" for link in arc.links[:_REASONS])
        left = len(arc.links) - _REASONS
        more = f"<li>and {left:,} more</li>" if left > 0 else ""
        yield (
            f"<details><summary>{titles[arc.first]} and {titles[arc.second]}: {escape(arc.told[:200])}</summary>"
            f"<ul>{told}{more}</ul></details>"
        )


def _reason(link: Link) -> str:
    rule = f", {RULES[link.rule]}" if link.rule else ""
    why = f": {link.why}" if link.why else ""
    return escape(f"{link.clue.text}{rule}{why}"[:400])
