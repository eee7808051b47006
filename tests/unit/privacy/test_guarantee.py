"""The guarantee of a result, as numbers and text."""

from __future__ import annotations

import pytest

from discreet.errors import GuaranteeError
from discreet.privacy import (
    GDP,
    Budget,
    Guarantee,
    Pure,
    Release,
    Split,
    check_neighbours,
    joint,
    picks_within,
    refuse_weaker,
)


def release(mu: float, label: str = "second moment") -> Release:
    return Release(label, sensitivity=2.0, noise_std=2.0 / mu, cost=GDP(mu))


def test_a_guarantee_is_the_composition_of_its_releases():
    guarantee = Guarantee((release(0.3), release(0.4)), "replace_one")
    assert guarantee.mu == pytest.approx(0.5)
    assert guarantee.rho == pytest.approx(0.125)
    assert guarantee.epsilon(1e-6) == pytest.approx(GDP(0.5).epsilon(1e-6), rel=1e-9)
    assert guarantee.delta(1.0) == pytest.approx(GDP(0.5).delta(1.0), rel=1e-9)


def test_the_text_names_the_guarantee_the_neighbours_and_every_release():
    text = str(Guarantee((release(0.3, "first look"), release(0.4, "second moment")), "replace_one"))
    assert "0.5-GDP" in text
    assert f"epsilon {GDP(0.5).epsilon(1e-6):.4g} at delta 1e-06" in text
    assert "per row: one row's data replaced by any other; the number of rows is public" in text
    assert "first look: sensitivity 2, noise std 6.667, mu 0.3" in text
    assert "second moment" in text
    assert "NOT PRIVATE" not in text


def test_the_text_says_whose_privacy_and_how_many_rows():
    text = str(Guarantee((release(0.5),), "add_or_remove_one", rows_per_person=3, grouped=True))
    assert "per person: one person's data added or removed; the number of persons is private" in text
    assert "at most 3 rows of each person were used" in text


def test_a_seeded_result_says_that_it_is_not_private():
    assert "NOT PRIVATE" in str(Guarantee((release(0.5),), "replace_one", seeded=True))


def test_nothing_released_is_a_perfect_guarantee():
    assert Guarantee((), "replace_one").epsilon(1e-6) == 0


def test_a_joint_guarantee_adds_releases_and_remembers_the_worst():
    first = Guarantee((release(0.3),), "replace_one")
    second = Guarantee((release(0.4),), "replace_one", seeded=True)
    both = joint([first, second])
    assert both.mu == pytest.approx(0.5)
    assert both.seeded
    assert len(both.releases) == 2


def test_guarantees_about_different_neighbours_have_no_joint_one():
    first = Guarantee((release(0.3),), "replace_one")
    for other in (
        Guarantee((release(0.3),), "add_or_remove_one"),
        Guarantee((release(0.3),), "replace_one", grouped=True),
    ):
        with pytest.raises(ValueError, match="cannot be combined"):
            joint([first, other])


def test_releases_of_other_kinds_are_composed_too():
    guarantee = Guarantee((release(0.3), Release("choice", 1.0, 1.0, Pure(0.2))), "replace_one")
    assert GDP(0.3).epsilon(1e-6) < guarantee.epsilon(1e-6) <= GDP(0.3).epsilon(1e-6) + 0.2
    assert "choice" in str(guarantee)


def test_what_was_asked_before_a_pick_is_not_what_the_pick_counts_on():
    """A split counts when it is first asked, not after everything else."""
    cost, split = picks_within(GDP(0.6), 1, [GDP(0.8)]), Split(0, 2, GDP(0.8), GDP(0.8))
    pick, parts = Release("pick", 1.0, 1.0, cost), [Release("part", 1.0, 1.0, GDP(0.8), split, i) for i in range(2)]
    assert Guarantee((pick, *parts), "replace_one").mu == pytest.approx(1.0, rel=1e-8)
    assert Guarantee((*parts, pick), "replace_one").mu == pytest.approx((1 + 0.64) ** 0.5, rel=1e-8)
    assert Guarantee((parts[0], pick, parts[1]), "replace_one").mu == pytest.approx((1 + 0.64) ** 0.5, rel=1e-8)


def test_neighbours_are_one_of_two():
    with pytest.raises(ValueError, match="replace_one, add_or_remove_one, got 'both'"):
        check_neighbours("both")


def test_weaker_noise_than_asked_for_is_refused_and_as_good_noise_is_not():
    budget = Budget.of(1.0, 1e-6)
    refuse_weaker(budget.split([1.0, 2.0]), budget)
    refuse_weaker([GDP(budget.mu)], budget)
    with pytest.raises(GuaranteeError, match=r"epsilon 1\.\d+ at delta 1e-06, weaker than the 1 asked for"):
        refuse_weaker([GDP(budget.mu), GDP(budget.mu * 0.1)], budget)


def test_a_budget_from_mu_is_the_same_budget():
    budget = Budget.of(2.0, 1e-6)
    again = Budget.from_mu(budget.mu, 1e-6)
    assert again.epsilon == pytest.approx(2.0, rel=1e-9)
    assert "epsilon 2 at delta 1e-06" in str(again)
