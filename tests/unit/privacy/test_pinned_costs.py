"""Costs and calibrations keep their values: a job that is resumed finds its answers by their costs.

Each number was recorded when other tests had shown that it lies on the private side. A change of a
constant, a margin or a grid moves it by far more than the tolerance; rounding on another processor
by far less.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.privacy import (
    GDP,
    ZCDP,
    Approximate,
    Perturbed,
    Pure,
    Repeated,
    amplified,
    clones_delta,
    clones_epsilon,
    compose,
    gaussian_cover,
    largest_gradient_mu,
    picks_within,
    shuffled_mu,
)
from discreet.privacy.shuffling import _largest_mu

SAME = {"rel": 1e-9, "abs": 0.0}
REMOVED = Perturbed(0.2, 0.1, 0.01, False, 1e-19)
REPLACED = Perturbed(0.11, 0.12, 0.006, True, 1e-19)
LARGE = Perturbed(1.0, 1.0, 0.05, True, 1e-15)
BESIDE = REMOVED.beside(0.1)


@pytest.mark.parametrize(
    ("cost", "deltas", "epsilons", "many"),
    [
        (
            REMOVED,
            [0.39380192691495086, 0.14015568972735887, 0.007175836376504787, 2.0067972776410913e-08],
            [0.8390375336139755, 0.4583906666009341],
            [0.6321205662130862, 0.0002468141941700959, 7.310637372187453e-17],
        ),
        (
            REPLACED,
            [0.39440433627804383, 0.17424601462200107, 0.015890040894931345, 2.278084596367063e-07],
            [0.9299369271031424, 0.5307437232140728],
            [0.6321206426434047, 0.000738301756608776, 2.2979879517794774e-14],
        ),
        (
            LARGE,
            [0.9430902262000002, 1.0, 0.9528525235731081, 0.7655969767014666],
            [11.073314429464517, 7.687944610199338],
            [0.9137679467801316, 0.8932112100732502, 0.5593881082655395],
        ),
        (
            BESIDE,
            [0.39666098632825386, 0.11845784007749881, 0.013114806492476542, 3.5218965080621907e-07],
            [0.9493838333555686, 0.527399804270857],
            [0.633588269978018, 0.000729460200788517, 5.990071461530981e-14],
        ),
    ],
    ids=["removed", "replaced", "large", "beside"],
)
def test_the_profile_of_a_perturbed_objective(cost, deltas, epsilons, many):
    assert [cost.delta(epsilon) for epsilon in (-0.5, 0.0, 0.3, 1.0)] == pytest.approx(deltas, **SAME)
    assert [cost.epsilon(delta) for delta in (1e-6, 1e-3)] == pytest.approx(epsilons, **SAME)
    # Of many values at once most are interpolated.
    assert cost.deltas(np.linspace(-1, 4, 30))[[0, 9, 15]] == pytest.approx(many, rel=1e-7)


def test_where_losses_of_a_perturbed_objective_end():
    ends = [1.3296319537982981, 1.468607866564298, 13.422164097887617]
    assert [cost.largest_loss for cost in (REMOVED, REPLACED, LARGE)] == pytest.approx(ends, **SAME)
    assert Perturbed(1e-6, 1e-9, 1e-9, False).largest_loss == 1e-4
    assert LARGE.delta(70.0) == LARGE.delta(61.0) == pytest.approx(LARGE.delta(100.0), rel=1e-12)


def test_the_table_of_losses_of_a_perturbed_objective():
    table = REMOVED.loss_distribution()
    chances = [0.05285207211380339, 0.0005483698517511578, 2.0073229918811364e-08]
    assert [table.get_delta_for_epsilon(at) for at in (0.1, 0.5, 1.0)] == pytest.approx(chances, rel=1e-8)


@pytest.mark.parametrize(
    ("epsilon", "replaced", "besides", "largest"),
    [
        (1.0, False, 0.0, 0.23550168485276554),
        (1.0, True, 0.05, 0.11484699305605617),
        (20.0, False, 0.0, 3.2272550917261666),
    ],
)
def test_the_largest_gradient(epsilon, replaced, besides, largest):
    slack = 1e-19 if epsilon < 10 else 0.0
    found = largest_gradient_mu(epsilon, 1e-6, 0.1, replaced=replaced, smoothing=0.05, slack=slack, besides=besides)
    assert found == pytest.approx(largest, **SAME)


@pytest.mark.parametrize(
    ("costs", "mu", "slack"),
    [
        ([REMOVED], 0.25462597656249997, 2.011444042526218e-15),
        ([GDP(0.1), REPLACED], 0.37537231445312497, 2.0103022319194342e-15),
        ([LARGE], 2.893216796875, 1.7899715413803455e-09),
        ([Approximate(0.7, 1e-8)], 0.8762055664062501, 1.0000010014805468e-08),
        ([Approximate(0.3, 1e-8), Approximate(0.2, 1e-9)], 0.39628466796875006, 1.1e-08),
    ],
    ids=["removed", "beside", "large", "pass", "passes"],
)
def test_covers(costs, mu, slack):
    cover = gaussian_cover(costs)
    assert cover.mu == pytest.approx(mu, rel=1e-9)
    assert cover.slack == pytest.approx(slack, rel=1e-3)


def test_shuffling():
    cases = [(0.5, 10, 0.1), (2.0, 1000, 0.5), (4.0, 200, 1.0), (1.0, 1, 0.3), (3.0, 10**6, 0.01)]
    deltas = [
        0.041435165534762175,
        3.933637400286269e-06,
        0.1821517110254406,
        0.36802563595206417,
        0.00042774357718092514,
    ]
    assert [clones_delta(*case) for case in cases] == pytest.approx(deltas, **SAME)
    assert clones_epsilon(0.5, 10_000, 1e-6) == pytest.approx(0.14678642308892392, **SAME)
    assert clones_epsilon(2.0, 100_000, 1e-9) == pytest.approx(0.24693939229238795, **SAME)
    asked = [(0.5, 1e-6, 500), (1.5, 1e-6, 10_000), (0.05, 1e-8, 10_000)]
    mus = [0.25514208534795013, 0.7800179228810891, 0.11533429941523361]
    assert [shuffled_mu(*one).mu for one in asked] == pytest.approx(mus, **SAME)
    # Found from above to 2^-halvings of what no shuffling gives.
    whole = GDP(0.5).epsilon(1e-6)
    found = amplified(0.5, 1000, 1e-6, halvings=4).epsilon
    assert _largest_mu(found, 1e-6, 1000) >= 0.5 > _largest_mu(found - whole / 2**4, 1e-6, 1000)
    assert (found / whole * 2**4).is_integer()


def test_pure_releases():
    mus = {0.3: 0.3753919992445204, 0.999: 1.2308437235826646, 1.0: 1.2320353853449135, 2.5: 2.866990467476536}
    mus |= {599.0: 68.96606440029693, 601.0: 69.08186910720649, 1300.0: 101.79001565753602}
    for epsilon, mu in mus.items():
        assert Pure(epsilon).mu == pytest.approx(mu, rel=2e-12)
        assert Pure(2 * epsilon, bounded_range=True).mu == Pure(epsilon).mu
    found = [Pure(1.0).epsilon(delta) for delta in (0, 1e-6, 0.1, 0.3, 0.5, 0.9, 1)]
    assert found == pytest.approx([1.0, 0.9999986321196233, 0.8529051013643218, 0.4717504026991334, 0, 0, 0], **SAME)
    found = [Pure(1.0).delta(epsilon) for epsilon in (0, 0.5, 1.0, 2.0)]
    assert found == pytest.approx([math.tanh(0.5), 0.28764913664496794, 0, 0], **SAME)
    # Tables have steps of 1e-4, to which losses are rounded up.
    for free in (GDP(0.0), GDP(1e-13), Pure(1e-12)):
        table = free.loss_distribution()
        assert 0 <= table.get_delta_for_epsilon(0.0) <= 5e-5
        assert table.get_delta_for_epsilon(1.01e-4) <= 1e-11


def test_concentrated_and_approximate_releases():
    cases = [(0.01, 1e-6), (1.0, 1e-9), (1e-6, 1e-3), (50.0, 1e-6)]
    epsilons = [0.6216926545596024, 9.521463671792231, 0.0, 100.68990516105823]
    assert [ZCDP(rho).epsilon(delta) for rho, delta in cases] == pytest.approx(epsilons, **SAME)
    cases = [(0.01, 1.0), (1.0, 3.0), (1e-6, 0.01), (50.0, 60.0)]
    deltas = [1.664113977387992e-13, 0.08334196041154227, 1.0169180723476508e-15, 0.4224797335161968]
    assert [ZCDP(rho).delta(epsilon) for rho, epsilon in cases] == pytest.approx(deltas, **SAME)
    rhos = [ZCDP.from_epsilon(*case).rho for case in ((1.0, 1e-6), (10.0, 1e-3), (0.1, 0.5))]
    assert rhos == pytest.approx([0.024355970359536627, 2.606776935808739, 0.44582874356965474], **SAME)
    unit = Approximate(1.0, 1e-3)
    epsilons = [unit.epsilon(delta) for delta in (0.0009, 1e-3, 0.1, 0.4, 1.0)]
    assert epsilons == pytest.approx([math.inf, 1.0, 0.8543316859612218, 0.2096142815876414, 0.0], **SAME)
    deltas = [unit.delta(epsilon) for epsilon in (0, 0.5, 1.0, 2.0)]
    assert deltas == pytest.approx([0.4626550401027497, 0.28836148750832297, 1e-3, 1e-3], **SAME)


@pytest.mark.parametrize(
    ("parts", "epsilons", "deltas"),
    [
        ([GDP(0.5), Pure(0.5)], (2.7026323165276818, 1.7721820851398797), (0.18316076184523822, 0.03279061271812402)),
        (
            [GDP(0.5), Approximate(0.5, 1e-7)],
            (2.714167496892038, 1.7721993693370106),
            (0.1831608435291621, 0.03279070943906269),
        ),
        (
            [GDP(0.3), Repeated(Pure(0.1), 5)],
            (1.5819466369987067, 0.9430451623082525),
            (0.051641666880093584, 0.000617382340250884),
        ),
        (
            [GDP(0.3), Repeated(Pure(0.1, bounded_range=True), 5)],
            (1.423879709486208, 0.818321936344473),
            (0.03701428121481204, 0.0001730953089713604),
        ),
        ([GDP(0.3), ZCDP(0.01)], (1.549229267842756, 0.9561991601930875), (0.07393954485648185, 0.0006648705868607691)),
        ([Approximate(1.0, 1e-8), ZCDP(0.01)], (1.622005504169144, 1.3543189946379213), (1.0, 0.08563360452071149)),
    ],
    ids=["pure", "approximate", "repeated", "picks", "zcdp", "sum"],
)
def test_compositions(parts, epsilons, deltas):
    together = compose(parts)
    assert [together.epsilon(delta) for delta in (1e-6, 1e-3)] == pytest.approx(epsilons, rel=1e-7)
    assert [together.delta(epsilon) for epsilon in (0.3, 1.0)] == pytest.approx(deltas, rel=1e-7)


def test_repetitions():
    picks, plain = Repeated(Pure(0.1, bounded_range=True), 10), Repeated(Pure(0.5), 3)
    found = [picks.mu, picks.rho, picks.epsilon(1e-6), picks.epsilon(0.01), picks.delta(0.3), picks.delta(1.0)]
    expected = [0.17826019984760783, 0.0125, 0.7002051046012128, 0.22329713844434426, 0.00393623004175136, 0.0]
    assert found == pytest.approx(expected, **SAME)
    found = [plain.mu, plain.rho, plain.epsilon(1e-6), plain.delta(0.3), plain.delta(1.5)]
    assert found == pytest.approx([1.0806136679804736, 0.375, 1.5, 0.3245888990484784, 0.0], **SAME)
    cases = [(0.5, 3), (5.0, 2), (2.0, 1), (0.01, 7), (60.0, 3)]
    widths = [0.46606077565962795, 6.432976383591401, 3.336535731971293, 0.006525928052506572, 307.54827154458366]
    assert [picks_within(GDP(mu), picks).each.parameter for mu, picks in cases] == pytest.approx(widths, rel=1e-11)
