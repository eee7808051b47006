"""The length of a start by a histogram of labels along its direction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisy_source import NoisySource
from plain_source import without_rounding

from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.line_search import along, profile
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.whitening import LabelScale
from discreet.glm import family, link
from discreet.privacy import GDP
from discreet.rows import Labels


@pytest.mark.parametrize("start", [0.2, 1.0, 5.0])
@pytest.mark.parametrize(("name", "link_name", "high"), [("bernoulli", "logit", 1.0), ("poisson", "log", 60.0)])
def test_length_and_constant_are_found_on_skewed_rows_from_any_start(name, link_name, high, start, monkeypatch):
    without_rounding(monkeypatch)
    rng = np.random.default_rng(0)
    x = rng.exponential(size=(20_000, 2)) - 1
    eta = -0.5 + x @ np.array([0.6, -0.8])
    y = rng.random(len(x)) < 1 / (1 + np.exp(-eta)) if name == "bernoulli" else rng.poisson(np.exp(eta))
    labels = Labels(high / 2, high / 2)
    model = GlmModel(family(name), link(link_name), labels, penalty=np.zeros(2))
    source = NoisySource(x, (np.minimum(y, high) - high / 2) / (high / 2), rng, "replace_one")
    frame = Frame(source, model, Coordinates(np.eye(3)), Foresight(model, True), 20_000.0, 1.0)
    phi = np.array([2.0, 0.6 * start, -0.8 * start])
    label = LabelScale(labels, float(np.mean(y)), float(np.std(y)), noise_std=0.1)
    query = profile(frame, phi, label)
    found = along(frame, phi, query, source.sum(query, GDP(1.0)), label)
    # Cells are half a standard deviation wide, and labels far above the others are cut: this is
    # where a descent starts.
    assert found == pytest.approx([-0.5, 0.6, -0.8], abs=0.12 if name == "bernoulli" else 0.25)


def test_a_profile_of_noise_moves_nothing(monkeypatch):
    without_rounding(monkeypatch)
    model = GlmModel(family("bernoulli"), link("logit"), Labels(0.5, 0.5), penalty=np.zeros(2))
    source = NoisySource(np.zeros((3, 2)), np.zeros(3), np.random.default_rng(0), "replace_one")
    frame = Frame(source, model, Coordinates(np.eye(3)), Foresight(model, True), 3.0, 1.0)
    phi = np.array([0.1, 0.2, 0.3])
    label = LabelScale(model.labels, 0.5, 0.5, noise_std=0.1)
    query = profile(frame, phi, label)
    assert along(frame, phi, query, source.sum(query, GDP(0.001)), label) == pytest.approx(phi)


def test_along_a_group_of_one_class_the_length_is_the_shortest_possible(monkeypatch):
    without_rounding(monkeypatch)
    rng = np.random.default_rng(0)
    rare = rng.random(5_000) < 0.05
    x = (rare - 0.05)[:, np.newaxis] / math.sqrt(0.05 * 0.95)
    y = (rng.random(len(x)) < 0.5) & ~rare
    model = GlmModel(family("bernoulli"), link("logit"), Labels(0.5, 0.5), penalty=np.zeros(1))
    source = NoisySource(x, 2.0 * y - 1, rng, "replace_one")
    frame = Frame(source, model, Coordinates(np.eye(2)), Foresight(model, True), 5_000.0, 1.0)
    phi = np.array([0.0, -1.0])
    label = LabelScale(model.labels, 0.5, 0.5, noise_std=0.1)
    query = profile(frame, phi, label)
    lengths = [-along(frame, phi, query, source.sum(query, GDP(mu)), label)[1] for mu in (0.5, 5.0, 1e6)]
    # Rows far out lie at places about 4; with fewer than a row of the other class expected, chance
    # explains it.
    assert 0.2 < lengths[0] < lengths[1] <= lengths[2] < 3


def test_a_single_cell_tells_no_length(monkeypatch):
    """All lengths reproduce one cell, and the constant was moved by the longest."""
    without_rounding(monkeypatch)
    model = GlmModel(family("poisson"), link("log"), Labels(2.0, 2.0), penalty=np.zeros(2))
    source = NoisySource(np.zeros((2000, 2)), np.full(2000, -0.5), np.random.default_rng(0), "replace_one")
    frame = Frame(source, model, Coordinates(np.eye(3)), Foresight(model, True), 2000.0, 1.0)
    phi = np.array([0.3, 0.01, 0.0])
    label = LabelScale(model.labels, 1.0, 0.5, noise_std=0.1)
    query = profile(frame, phi, label)
    assert along(frame, phi, query, source.sum(query, GDP(1.0)), label) == pytest.approx(phi)


def test_the_look_tells_the_mean_where_the_profile_is_noisier(monkeypatch):
    """The noise of a sum over a wide range of labels moved the constant, and steps from there were
    long.
    """
    without_rounding(monkeypatch)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20_000, 2))
    y = rng.gamma(2.0, np.exp(1 + x @ np.array([0.3, -0.4])) / 2)
    labels = Labels(50.0, 50.0)
    model = GlmModel(family("gamma"), link("log"), labels, penalty=np.zeros(2))
    source = NoisySource(x, (np.clip(y, 0.0, 100.0) - 50) / 50, rng, "replace_one")
    frame = Frame(source, model, Coordinates(np.eye(3)), Foresight(model, True), 20_000.0, 0.5)
    phi, wide = np.array([1.0, 0.3, -0.4]), LabelScale(labels, float(np.mean(y)), 10.0, noise_std=0.02)
    query = profile(frame, phi, wide)
    answers = [source.sum(query, GDP(0.02)) for _ in range(20)]

    def spread(label: LabelScale) -> float:
        totals = [
            float(np.log(np.mean(np.exp(f[0] + x @ f[1:]))))
            for f in (along(frame, phi, query, answer, label) for answer in answers)
        ]
        return float(np.std(totals))

    assert spread(wide) < 0.3 * spread(LabelScale(labels, float(np.mean(y)), 10.0, noise_std=1e6))
