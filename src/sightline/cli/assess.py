"""`sightline assess BENCH RUN RUN…`."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.assessment import assess as open_assessment
from sightline.cli.options import Common, Switch, Whole, described_by
from sightline.io.files import picture_path
from sightline.plain_text import printable

if TYPE_CHECKING:
    from sightline.assessment import Assessment, Grade

_KEYS = "s skip, ? can't tell, u undo, q quit"
_GRADES: dict[str, Grade] = {"0": 0, "1": 1, "2": 2, "3": 3, "s": "skip", "?": "can't tell"}


@described_by(open_assessment)
def assess(
    benchmark: Path,
    /,
    *runs: Path,
    goal: Literal["compare", "score"] = "compare",
    half_width: Annotated[float, Parameter(validator=Number(gt=0, lt=1))] = 0.05,
    people: Whole = 1,
    person: str = "me",
    no_open: Switch = False,
    common: Common = Common(),
) -> None:
    """Grade pictures until it is known which system is better. Every decision is saved at once; run it again to go on.

    Keys, each followed by Enter: 0 to 3 for a grade, s to skip, ? if you can't tell, u to undo, q to quit. With --limit
    it stops after so many decisions in all.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark: queries and pictures; labels are not needed.
    runs:
        Folders with what each system returned; those that `make --pool` kept in the benchmark when not given.
    half_width:
        How exact to be, in dcg@10 (whose differences are about two thirds of those in nDCG@10): systems that surely
        differ by no more than this count as equally good. With --goal score, each score is measured to ± this.
    person:
        Your name as a reviewer.
    no_open:
        Print where each picture is instead of opening it in the system's viewer.
    """
    from sightline.assessment import GRADES

    keys = ", ".join(f"{grade} {said}" for grade, said in GRADES.items()) + f"; {_KEYS}"
    seed = 0 if common.seed is None else common.seed
    runs = runs or tuple(sorted(path.parent for path in benchmark.glob("runs/*/run.json")))
    found = open_assessment(benchmark, runs, goal=goal, half_width=half_width, people=people, seed=seed)
    common.note([] if found.settled else [str(found.outlook()), keys])
    _judge(found, person, common.limit, keys, opens=not no_open)
    if common.json:
        common.print_json(_summary(found))
        return
    if len(found.systems) > 1:
        common.print(str(found.comparison()))
    for name, scores in found.scores().items() if goal == "score" else ():
        common.print(f"{name}\n{scores}")
    common.print(found.answer())


def _summary(found: Assessment) -> dict[str, Any]:
    scores = {name: one.to_json() for name, one in found.scores().items()}
    compared = found.comparison().to_json() if len(found.systems) > 1 else None
    return {
        "settled": found.settled,
        "spent": found.spent,
        "answer": found.answer(),
        "comparison": compared,
        "scores": scores,
    }


def _judge(found: Assessment, person: str, most: int | None, keys: str, *, opens: bool) -> None:
    """Ask until it is settled, nothing is left, so many decisions were made, or the person stops."""
    shown = None
    while not found.settled and found.spent != most and (pairs := found.next(person=person)):
        pair = pairs[0]
        if pair != shown:
            sys.stderr.write(f"\n{printable(pair.text)}\n")
            before = () if shown is not None and shown.task == pair.task else pair.shown
            for said, uri in (*(("like ", uri) for uri in before), ("", pair.uri)):
                path = picture_path(uri, (found.benchmark.folder or Path()).resolve())
                sys.stderr.write(f"  {said}{printable(str(path or uri))}\n")
                if opens:
                    webbrowser.open(uri if path is None else path.as_uri())
        shown = pair
        sys.stderr.write(f"{found.spent + 1}> ")
        sys.stderr.flush()
        key = sys.stdin.readline()
        if key == "" or key.strip() == "q":
            return
        if key.strip() == "u":
            found.undo(person)
        elif key.strip() in _GRADES:
            if found.has_told(pair, person):
                sys.stderr.write(f'"{person}" has graded this picture elsewhere. Give each person a --person.\n')
            found.tell(pair, _GRADES[key.strip()], person)
        else:
            sys.stderr.write(f"{keys}\n")
