"""Your own pictures as a demo: what is seen and found in them, and the page that shows it: one file, thumbnails inside.

Nothing on it tells where a picture was taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

from sightline import __version__
from sightline.calls.session import Session
from sightline.config import Config
from sightline.corpus.scan import ScanSummary
from sightline.corpus.view import open_corpus
from sightline.demo.vision import DemoFindings, DemoQuery, RecognizedPicture, Thumbnails, queries, reads_words, see
from sightline.english import counted, listed
from sightline.errors import UserError, explained
from sightline.io.files import PathLike, write_files, write_whole
from sightline.models.embedders.base import close
from sightline.models.embedders.registry import find_embedder
from sightline.models.photos.embedder import Photos
from sightline.pictures import scan
from sightline.plain_text import short
from sightline.reports.blocks import (
    Block,
    CaptionedPicture,
    Chapter,
    FactsBlock,
    NotesBlock,
    PagePart,
    Paragraph,
    PicturesBlock,
    ReportPage,
)
from sightline.reports.html import to_html
from sightline.retrieval.index.content import folder_address
from sightline.retrieval.results import Hit
from sightline.retrieval.search import search
from sightline.types import Corpus, Failure, Group, GroupKind, Picture

_NAME = 22
_GROUPS: Mapping[GroupKind, tuple[str, int]] = {
    "duplicate": ("The same picture more than once", 4),
    "burst": ("Taken in quick succession", 3),
    "event": ("Events: taken near each other in time and place", 5),
}
"""Titles, and how many of each kind are shown."""
_MEMBERS = 6
_ABOUT_SEEING = (
    "Names come from 1,000 classes of an ImageNet classifier and from a few everyday words; the number is the chance "
    "that the name is right; what is less sure than 0.5 is only a guess. Colours, light and sharpness are measured in "
    "the middle of the picture. People are not counted: nothing here can."
)
_ABOUT_SEARCH = (
    "Each search is for a name that was seen above, over all pictures of the folder. The name and the search come from "
    "the same networks, so finding the picture again is no proof of quality; what else is found says more. Scores are "
    "cosines: compare them within one search only. There is always a nearest picture, also for words that fit none."
)


def write_page(found: DemoFindings, path: Path) -> Path:
    """The page as one HTML file, whole or not at all; its path."""
    write_files({path: to_html(_page(found, Thumbnails())).encode()})
    return path


def _page(found: DemoFindings, small: Thumbnails) -> ReportPage:
    scanned = found.scanned
    chapters = [
        Chapter("The folder", "folder", [PagePart("", _folder(found))]),
        Chapter("What is seen", "seen", [PagePart("", _seen(found, small))]),
        Chapter("What words find", "found", [PagePart("", [Paragraph(_ABOUT_SEARCH)]), *_searches(found, small)]),
        Chapter("What belongs together", "groups", list(_groups(found, small))),
    ]
    return ReportPage(
        title=f"First look at {found.root.name or found.root}",
        subtitle=counted(scanned.pictures, "picture") + ("; none left this machine" if found.stayed_here else ""),
        chapters=chapters,
        footer=f"Made by Sightline {__version__}. Thumbnails carry no metadata, and places are left out.",
    )


def _folder(found: DemoFindings) -> list[Block]:
    scanned = found.scanned
    facts = [("Folder", str(found.root)), ("Pictures", f"{scanned.pictures:,}")]
    if scanned.first_year is not None:
        years = sorted({str(scanned.first_year), str(scanned.last_year)})
        facts.append(("Taken", "–".join(years)))
    counts = ((scanned.events, "event"), (scanned.bursts, "burst"), (scanned.duplicates, "duplicate"))
    facts.append(("Found", listed([counted(*count) for count in counts])))
    for name, reasons in (("Skipped", scanned.skipped), ("Noted", scanned.warnings)):
        if reasons:
            facts.append((name, ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())))
    for _, results in found.searches[:1]:
        facts.append(("Embedded by", f"{results.embedder} ({results.revision})"))
    blocks: list[Block] = [FactsBlock(facts)]
    if found.limited:
        blocks.append(NotesBlock([f"Only the first {found.limit:,} files were taken; --limit takes more."]))
    return blocks


def _seen(found: DemoFindings, small: Thumbnails) -> list[Block]:
    about: list[Block] = [Paragraph(_ABOUT_SEEING)]
    if found.unread:
        unread = f"{counted(found.unread, 'picture')} could be scanned, and then not be read."
        about.append(NotesBlock([unread], warning=True))
    if not found.reads_words:
        about.append(Paragraph("Words in the pictures were not read: pip install 'sightline[ocr]' adds that."))
    shown = [CaptionedPicture(small(one.picture), _name(one.picture), list(_about(one))) for one in found.seen]
    return [*about, PicturesBlock(shown)]


def _about(one: RecognizedPicture) -> Iterator[str]:
    sure, guesses = (
        ", ".join(f"{tag} {chance:.2f}" for tag, chance in islice(found.items(), 3))
        for found in (one.tags, one.guesses)
    )
    yield sure or (f"perhaps {guesses}" if guesses else "nothing that has a name here")
    looks = [", ".join(one.colours), one.light, one.sharpness if one.sharpness != "unknown" else ""]
    yield " · ".join(filter(None, looks))
    if one.words:
        yield short(f"“{' '.join(one.words)}”", 80)


def _searches(found: DemoFindings, small: Thumbnails) -> Iterator[PagePart]:
    for query, results in found.searches:
        source = f"Seen in {query.seen_in} with a confidence of {query.confidence:.2f}."
        about = Paragraph(
            source if query.seen_in else "Not from what was seen: too little was sure enough to be named."
        )
        yield PagePart(f"“{query.text}”", [about, PicturesBlock([_hit(query, hit, small) for hit in results.hits])])


def _hit(query: DemoQuery, hit: Hit, small: Thumbnails) -> CaptionedPicture:
    mark = "seen here" if hit.picture.id == query.seen_in else ""
    return CaptionedPicture(small(hit.picture), _name(hit.picture), [f"score {hit.score:.3f}"], mark)


def _groups(found: DemoFindings, small: Thumbnails) -> Iterator[PagePart]:
    for kind, (title, most) in _GROUPS.items():
        groups = [group for group in found.groups if group.kind == kind]
        if not groups:
            yield PagePart(title, [Paragraph("None was found.")])
            continue
        several = [group for group in groups if len(group.pictures) > 1]
        largest = sorted(several, key=lambda group: -len(group.pictures))[:most]
        shown = "" if len(groups) == len(largest) else f", of which the {len(largest)} largest are shown"
        if not largest:
            shown = ", of a single picture each"
        blocks: list[Block] = [Paragraph(f"{counted(len(groups), 'group')}{shown}.")]
        for group in largest:
            blocks += _group(group, found.pictures, small)
        yield PagePart(title, blocks)


def _group(group: Group, pictures: Mapping[str, Picture], small: Thumbnails) -> list[Block]:
    members = [pictures[id_] for id_ in group.pictures]
    about = f"{counted(len(members), 'picture')}{_when(members)}"
    shown = [CaptionedPicture(small(picture), _name(picture)) for picture in members[:_MEMBERS]]
    return [Paragraph(about), PicturesBlock(shown)]


def _when(members: Sequence[Picture]) -> str:
    days = sorted({picture.taken_at.date().isoformat() for picture in members if picture.taken_at is not None})
    if not days:
        return ""
    return f", {days[0]}" if len(days) == 1 else f", {days[0]} to {days[-1]}"


def _name(picture: Picture) -> str:
    """The end of the id, which tells pictures apart."""
    id_ = picture.id
    return id_ if len(id_) <= _NAME else f"…{id_[-_NAME + 1 :]}"


_MARK = ".sightline-demo"
MOST = 1000
"""Files that are taken when nobody says how many."""
_SAMPLE = 18
_HITS = 6


def own_folder(out: Path, seed: int) -> None:
    """An empty folder, or one that an earlier demo with the same seed made; nobody else's."""
    mark = out / _MARK
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not mark.is_file())):
        raise UserError(f"{out} holds other things; the demo leaves it as it is.", "choose another place: --out DIR")
    if mark.is_file() and mark.read_text("utf-8") != str(seed):
        raise UserError(f"{out} holds a demo with another seed.", "choose another place: --out DIR")
    with explained(f"{out} can't be written", "choose another place: --out DIR"):
        out.mkdir(parents=True, exist_ok=True)
        write_whole(mark, str(seed).encode())


@dataclass(frozen=True, slots=True)
class OwnDemo:
    """What was found in one's own pictures, and the page that shows it."""

    page: Path
    workspace: Path
    found: DemoFindings


def run_own_demo(
    folder: PathLike,
    pictures: PathLike,
    *,
    config: Config | None = None,
    limit: int | None = None,
    seed: int = 0,
    local_only: bool = False,
    workspace: PathLike | None = None,
) -> OwnDemo:
    """Look at the first pictures of a folder, as far as that goes without a benchmark, and write a page about them."""
    config, limit, out = config or Config(), limit or MOST, Path(folder)
    root = Path(pictures).expanduser().absolute()
    if not root.is_dir():
        raise UserError(f"there is no folder {root}.", "check the path after --pictures")
    if out.resolve().is_relative_to(root.resolve()):
        raise UserError(f"{out} is in the pictures' folder, where nothing is ever written.", "choose --out elsewhere")
    own_folder(out, seed)
    # The embedder first: what is missing for it is said before an hour of reading pictures, not after.
    session = Session(workspace, config, local_only=local_only)
    embedder = find_embedder(session=session)
    try:
        photos = embedder if isinstance(embedder, Photos) else Photos(local_only=local_only)
        scanned = scan(root, limit=limit, session=session)
        corpus = _below(open_corpus(session.workspace), root)
        scanned = _scanned_here(scanned, corpus)
        if not scanned.pictures:
            raise UserError(f"{root} holds no picture that can be read{_skipped(scanned)}.", "choose another folder")
        looked_at = list(see(_sample(corpus), photos, config.annotate))
        seen = [one for one in looked_at if not isinstance(one, Failure)]
        find = partial(search, k=_HITS, embedder=embedder, limit=limit, session=session)
        searches = [(query, find(query.text, root)) for query in queries(seen)]
    finally:
        close(embedder)
    found = DemoFindings(
        root=root,
        scanned=scanned,
        limit=limit,
        stayed_here=embedder is photos,
        reads_words=reads_words(),
        seen=tuple(seen),
        unread=len(looked_at) - len(seen),
        searches=tuple(searches),
        groups=tuple(corpus.groups),
        pictures=corpus.pictures,
    )
    return OwnDemo(write_page(found, out / "pictures.html"), session.workspace, found)


def _below(corpus: Corpus, root: Path) -> Corpus:
    """The pictures of one folder, and how they belong together: a workspace may know others."""
    address = folder_address(root)
    pictures = {picture.id: picture for picture in corpus.pictures.values() if picture.uri.startswith(address)}
    shown = [
        replace(group, pictures=members)
        for kind in _GROUPS
        for group in corpus.groups_of(kind)
        if len(members := tuple(id_ for id_ in group.pictures if id_ in pictures)) > (kind != "event")
    ]
    return replace(corpus, pictures=pictures, groups=shown)


def _scanned_here(scanned: ScanSummary, corpus: Corpus) -> ScanSummary:
    """What the scan says of the workspace, said of the folder."""
    years = sorted(picture.taken_at.year for picture in corpus.pictures.values() if picture.taken_at is not None)
    return replace(
        scanned,
        pictures=len(corpus.pictures),
        skipped=scanned.skipped_here,
        duplicates=sum(len(group.pictures) - 1 for group in corpus.groups_of("duplicate")),
        bursts=len(corpus.groups_of("burst")),
        events=len(corpus.groups_of("event")),
        first_year=years[0] if years else None,
        last_year=years[-1] if years else None,
        folders=1,
    )


def _sample(corpus: Corpus) -> list[Picture]:
    """Pictures spread evenly over the corpus, copies left out."""
    copies = {id_ for group in corpus.groups_of("duplicate") for id_ in group.pictures[1:]}
    ids = [id_ for id_ in corpus.pictures if id_ not in copies]
    return [corpus.pictures[id_] for id_ in _spread(ids, _SAMPLE)]


def _spread(ids: Sequence[str], count: int) -> list[str]:
    count = min(count, len(ids))
    return [ids[(2 * number + 1) * len(ids) // (2 * count)] for number in range(count)]


def _skipped(scanned: ScanSummary) -> str:
    listed = ", ".join(f"{count:,} {reason}" for reason, count in scanned.skipped.items())
    return f" ({listed})" if listed else ""
