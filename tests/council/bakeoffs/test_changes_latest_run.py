import numpy as np

from council.bakeoffs.changes import (
    HypothesisFamily,
    compare_latest_run,
    head_to_head_shares,
    stack_runs,
)
from tests.council.bakeoffs.record_builders import a_record, of

RNG = np.random.default_rng(2)


def _cube(*levels: float, questions: int = 30) -> np.ndarray:
    """Return runs at these levels, for one member, with a little noise."""
    noise = 0.05 * RNG.standard_normal((len(levels), questions, 1))
    cube: np.ndarray = np.array(levels)[:, None, None] + noise
    return cube


def test_a_change_is_reported_only_once() -> None:
    found = compare_latest_run(_cube(0.7, 0.7, 0.4, 0.4), HypothesisFamily(0.05))

    assert found.is_beyond.tolist() == [False]
    assert found.runs.tolist() == [1]  # its past begins with the fall


def test_a_change_below_the_floor_is_not_reported_however_certain() -> None:
    cube = _cube(0.7, 0.7, 0.55)

    assert compare_latest_run(cube, HypothesisFamily(0.05)).is_beyond.tolist() == [True]
    assert compare_latest_run(cube, HypothesisFamily(0.05, floor=0.2)).is_beyond.tolist() == [False]


def test_each_member_has_a_past_of_its_own() -> None:
    cube = np.concatenate([_cube(0.7, 0.4, 0.4), _cube(0.5, 0.5, 0.5)], axis=2)

    assert compare_latest_run(cube, HypothesisFamily(0.05)).runs.tolist() == [1, 2]


def test_a_cube_stands_by_run_and_question() -> None:
    columns = of(
        a_record({"ada": 0.25, "bob": 0.75}, number=2, run=0),
        a_record({"ada": 1.0, "bob": 0.0}, number=1, run=1),
        a_record({"ada": 0.5, "bob": 0.5}, number=3, run=1),
    )

    found = stack_runs(columns, columns.author("share"), [[0], [1, 2]], 3)

    expected = np.array([[np.nan, 0.25, np.nan], [1.0, np.nan, 0.5]])
    assert np.array_equal(found[:, :, 0], expected, equal_nan=True)


def test_shares_among_some_are_the_means_of_their_pairs() -> None:
    columns = of(
        a_record({"ada": 1.0, "bob": 0.5, "cyd": 0.0}),
        a_record({"ada": 0.5, "bob": 0.5, "cyd": 1.0}, number=2),
        a_record({"ada": 0.5, "cyd": 1.0}, number=3),
    )

    found = head_to_head_shares(columns, ["ada", "bob"])

    expected = np.array([[1, 0], [0.5, 0.5], [np.nan, np.nan]])
    assert np.array_equal(found, expected, equal_nan=True)
    assert head_to_head_shares(columns, ["ada", "bob", "cyd"])[0].tolist() == [1, 0.5, 0]
