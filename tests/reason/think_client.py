"""A real process that makes traces of many pictures: `URL FOLDER PICTURES AT_ONCE`."""

from __future__ import annotations

import sys
from pathlib import Path

from sightline.engine.limits import Limits
from sightline.models.asking import Asking
from sightline.reason.traces.asking import Settings
from sightline.reason.traces.making import Work, make_traces
from sightline.reason.traces.nouns import Known, Rules, Subject, Teacher
from sightline.reason.traces.prompts import Prompts, Template
from sightline.reason.traces.sources import Source


def main(url: str, folder: Path, pictures: int, at_once: int) -> None:
    def subjects() -> list[Subject]:
        return [
            Subject(f"{number:05d}", f"https://p.example/{number}", Known((f"thing {number}",)))
            for number in range(pictures)
        ]

    settings = Settings(
        (Teacher("vllm/a"), Teacher("vllm/b")), Prompts((Template.of("{label}"),)), rules=Rules(language=None)
    )
    asking = Asking(base_url=url, limits=Limits.at_once(at_once))
    work = Work(Source("things", pictures, lambda: iter(subjects())), settings, folder / "ws", asking=asking)
    make_traces(work, folder / "out", format_="jsonl", shard_rows=20)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
