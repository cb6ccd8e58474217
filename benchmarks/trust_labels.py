"""Section of `trust.py` about labels: do stated precision, sensitivity and specificity hold the truth?

100 decisions are drawn where labels are unsure (`informative_rates`), as for a score, and the rates are weighted shares
of them. Beside that: what three judges who share errors look like to a label model, without people and with 100
decisions.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sightline.metrics.labels.shares import weighted_share
from trust_draws import draw_pairs, informative_rates
from trust_label_model import label_model
from trust_scores import Cell, held_share, in_parallel
from trust_worlds import KINDS, PREVALENCES, World, draw_world, judge, probability

if TYPE_CHECKING:
    from trust import Options

Floats = NDArray[np.float64]

RATES = ("precision", "sensitivity", "specificity")


def labels_cell(cell: Cell) -> dict[str, tuple[float, float, float, float, float]]:
    """For each rate: held with limits, mean of the truth, mean length of the interval."""
    rng = cell.rng()
    found: dict[str, list[tuple[float, float, float]]] = {rate: [] for rate in RATES}
    for _ in range(cell.repetitions):
        world = draw_world(rng, cell.prevalence)
        stated = judge(rng, world, cell.kind, cell.accuracy)
        rates = informative_rates(np.ones(len(stated)), probability(stated), cell.decisions)
        draw = draw_pairs(rates, world.query, int(rng.integers(1 << 30)))
        for rate, (hits, among) in _rates(world, stated).items():
            seen = among & draw.drawn
            share = weighted_share(hits[seen], draw.weights[seen], world.query[seen])
            if share is not None:
                found[rate].append((share.low, share.high, float(hits[among].mean())))
    return {rate: _summary(np.array(rows)) for rate, rows in found.items()}


def _rates(world: World, stated: Floats) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    says, is_ = stated > 0, world.truth > 0
    return {"precision": (is_, says), "sensitivity": (says, is_), "specificity": (~says, ~is_)}


def _summary(rows: Floats) -> tuple[float, float, float, float, float]:
    """Held: the share of all pairs of the world that this draw was taken from."""
    hits = int(((rows[:, 0] <= rows[:, 2]) & (rows[:, 2] <= rows[:, 1])).sum())
    return (*held_share(hits, len(rows)), float(rows[:, 2].mean()), float((rows[:, 1] - rows[:, 0]).mean()))


def labels(options: Options) -> list[str]:
    """Error rates from 100 decisions, for every kind of errors; then the label model."""
    cells = [
        Cell(kind, accuracy, prevalence, options.repetitions, options.seed)
        for kind, accuracy, prevalence in product(KINDS, (0.7, 0.85, 0.95), PREVALENCES)
    ]
    results = in_parallel(labels_cell, cells, options.processes)
    missed = []
    print("| rate | errors | accuracy | prevalence | truth | holds [99 %] | length |\n|---|---|---|---|---|---|---|")
    for rate in RATES:
        for cell, result in zip(cells, results, strict=True):
            held, low, high, truth, length = result[rate]
            print(
                f"| {rate} | {cell.kind} | {cell.accuracy} | {cell.prevalence} | {truth:.2f} | {held:.3f} [{low:.3f}, "
                f"{high:.3f}] | {length:.2f} |"
            )
        mean = float(np.mean([result[rate][0] for result in results]))
        worst = min(result[rate][1] for result in results)
        print(f"\n{rate}: holds {mean:.3f} on average, lowest 99 % limit {worst:.3f}\n")
        if not (0.93 <= mean <= 0.97 and worst >= 0.92):
            missed.append(f"{rate} holds {mean:.3f} on average, lowest 99 % limit {worst:.3f}")
    _print_models(options.seed)
    return missed


def _print_models(seed: int) -> None:
    """Three judges of accuracy 0.85, half of whose errors are shared: what the model states without and with people."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(3000) < 0.25).astype(np.intp)
    print("| three judges | people | stated sensitivity | true | stated specificity | true | warning |")
    print("|---|---|---|---|---|---|---|")
    for kind, deceived in (("independent", 0.0), ("shared", 0.0811)):
        aim = np.where(rng.random(3000) < deceived, 1 - truth, truth)
        right = 0.925 if deceived else 0.85
        votes = np.stack([np.where(rng.random(3000) < right, aim, 1 - aim) for _ in range(3)], axis=1)
        for decisions in (0, 100):
            people = np.where((np.arange(3000) % 30 == 0) & (decisions > 0), truth, -1)
            made = label_model(votes, people, clusters=np.arange(3000) // 15, seed=seed)
            one = made.judges[0]
            assert one.sensitivity and one.specificity
            print(
                f"| {kind} | {decisions} | {one.sensitivity.value:.2f} [{one.sensitivity.low:.2f}, "
                f"{one.sensitivity.high:.2f}] | {votes[truth > 0, 0].mean():.2f} | {one.specificity.value:.2f} "
                f"[{one.specificity.low:.2f}, {one.specificity.high:.2f}] | {1 - votes[truth == 0, 0].mean():.2f} "
                f"| {'; '.join(made.warnings)[:60] or 'none'} |"
            )
