from __future__ import annotations

import numpy as np
import pytest

from sightline.metrics.statistics.repeats import repeated

NAN = float("nan")


def test_the_textbook_table_gives_its_intraclass_correlation() -> None:
    # Shrout and Fleiss (1979), six targets and four judges: ICC(1,1) = 0.17.
    table = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
    found = repeated(table)
    assert found.intraclass == pytest.approx(0.1657, abs=1e-4)
    assert found.run_means == pytest.approx(tuple(table.mean(axis=0)))
    assert found.between_run_sd == pytest.approx(table.mean(axis=0).std(ddof=1))
    assert found.within_task_sd == pytest.approx(np.sqrt(table.var(axis=1, ddof=1).mean()))


def test_components_are_recovered_from_an_uneven_table() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(0.5, 0.2, (4000, 1)) + rng.normal(0, 0.1, (4000, 4))
    table[rng.random(table.shape) < 0.3] = NAN
    found = repeated(table)
    assert found.between_task_sd == pytest.approx(0.2, abs=0.01)
    assert found.within_task_sd == pytest.approx(0.1, abs=0.005)
    assert found.intraclass == pytest.approx(0.8, abs=0.02)


def test_a_system_that_always_says_the_same() -> None:
    found = repeated(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]))
    assert (found.within_task_sd, found.intraclass, found.between_run_sd) == (0.0, 1.0, 0.0)
    assert (found.runs, found.tasks) == (2, 3)


@pytest.mark.parametrize(
    ("table", "runs", "intraclass"),
    [
        (np.empty((0, 0)), 0, None),
        (np.array([[0.5], [1.0]]), 1, None),
        (np.array([[0.5, 1.0]]), 2, None),
        (np.array([[0.5, 0.5], [0.5, 0.5]]), 2, None),
        (np.array([[NAN, NAN], [0.0, 1.0]]), 2, None),
    ],
)
def test_too_little_to_tell(table: np.ndarray, runs: int, intraclass: None) -> None:
    found = repeated(table)
    assert (found.runs, found.intraclass) == (runs, intraclass)
