"""The accuracy benchmark fits as a user does, resumes missing cells, and counts correctly."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.accuracy import ours
from benchmarks.accuracy.__main__ import cells_filled, is_done
from benchmarks.accuracy.cells import EPSILONS, RELATIONS, Cell, Result
from benchmarks.accuracy.encoded_once import EncodedOnce
from benchmarks.accuracy.lines import AUTO, lines_of
from benchmarks.accuracy.problems import Part, problem
from benchmarks.accuracy.summary import summary
from benchmarks.peers.oracle import best_choice

CELL = Cell("claims", False, RELATIONS[0], 1.0)


@pytest.fixture(scope="module")
def few_claims():
    """Claims have numbers, categories and an exposure."""
    whole = problem("claims", 0)

    def first(part: Part) -> Part:
        return Part(part.frame.iloc[:600], part.y[:600], part.exposure[:600])

    return replace(whole, private=first(whole.private), public=first(whole.public), test=first(whole.test))


@pytest.mark.parametrize("with_public", [False, True])
@pytest.mark.parametrize("relation", RELATIONS)
def test_rows_encoded_once_give_the_bits_of_a_plain_fit(few_claims, relation, with_public):
    cell = replace(CELL, neighbours=relation, with_public=with_public)
    EncodedOnce(few_claims).check(
        lambda: ours._fit("auto", cell, few_claims, 1), lambda model: ours._predictor(model, few_claims)
    )


def test_kept_rows_are_refused_to_a_fit_of_other_rows(few_claims):
    private = few_claims.private
    fewer = Part(private.frame.iloc[:500], private.y[:500], private.exposure[:500])
    with EncodedOnce(few_claims).rows(), pytest.raises(ours.NotThereError, match="not the private rows of claims"):
        ours._fit("auto", CELL, replace(few_claims, private=fewer), 1)


def test_every_fit_draws_noise_of_its_own(few_claims):
    encoded = EncodedOnce(few_claims)
    assert len({ours._loss("auto", CELL, encoded) for _ in range(3)}) == 3


def test_a_baseline_is_done_when_every_cell_that_it_fills_is_there():
    options = argparse.Namespace(draws=20, splits=3)
    filled = cells_filled(CELL, "non-private")
    assert len(filled) == len(EPSILONS) * len(RELATIONS)
    known = {(cell, "non-private"): Result(cell, "non-private", 20, (1.0, 1.0, 1.0)) for cell in filled}
    assert is_done(CELL, "non-private", options, known)
    known.pop((filled[-1], "non-private"))
    assert not is_done(CELL, "non-private", options, known)


def test_an_oracle_does_not_choose_by_luck():
    """One of twenty choices is better by three standard deviations of the noise."""
    rng = np.random.default_rng(0)

    def losses(choices: list[int], draws: int) -> list[np.ndarray]:
        return [rng.normal(-3.0 if choice == 7 else 0.0, 1.0, draws) for choice in choices]

    # Seeded. A miss needs it behind six others on two draws, or the best of sixteen draws to be 3
    # deviations off.
    assert all(best_choice(range(20), losses) == 7 for _ in range(50))


def test_the_summary_counts_cells_by_their_best_peer():
    def result(cell: Cell, method: str, loss: float) -> tuple[tuple[Cell, str], Result]:
        return (cell, method), Result(cell, method, 20, (loss,) * 3)

    one, two = Cell("wine", False, RELATIONS[0], 1.0), Cell("wine", True, RELATIONS[0], 1.0)
    table = dict(
        [
            result(one, AUTO, 0.5),
            result(one, "AdaSSP", 0.6),
            result(one, "DP-GD oracle", 0.4),  # tuned: counts among all, not among the untuned
            result(two, AUTO, 0.7),
            result(two, "AdaSSP", 0.6),
            result(two, "public-only", 0.65),
        ]
    )
    text = "\n".join(summary(lines_of(table)))
    assert "untuned peer in 1 of 2 cells (50 %)" in text
    assert "included, in 0 of 2 cells (0 %)" in text
    assert "alone in 0 of 1 cells (0 %), and at most 2 % above itself without public rows in 0 of 1 cells" in text
    assert "| wine | 200 | replace_one | 1 | AdaSSP | 16.7 % |" in text
