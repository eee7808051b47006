"""A release file may come from anybody: altered and sealed again, it is used or refused with one
clear error.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import math
import random
import warnings

import numpy as np
import pytest
from small_plan import people, released, small_plan

from discreet.errors import DiscreetError, ReleaseError
from discreet.parties import PartyRelease, join
from discreet.parties.printed import printed_ols
from discreet.parties.release_file import _checksum

PLANS = {
    "rmgm": small_plan(mixes=20),
    "dgm": small_plan(method="dgm"),
    "joint": small_plan(guarantee="joint", mixes=20),
    "printed rmgm": small_plan(calibration="paper", mixes=20),
    "printed dgm": small_plan(calibration="paper", method="dgm"),
}
ODD = [
    None,
    True,
    -1,
    0,
    1,
    10**30,
    10**400,
    0.5,
    1e308,
    "",
    "x",
    "\ud800",
    "a\nb",
    [],
    [[]],
    {},
    {"name": "x"},
    [None],
]


@pytest.fixture(scope="module")
def files():
    made = {name: released(plan, people(100)).releases for name, plan in PLANS.items()}
    return {name: [json.loads(one.to_bytes()) for one in releases] for name, releases in made.items()}


def sealed(content):
    content = copy.deepcopy(content)
    content.pop("checksum", None)
    return json.dumps({**content, "checksum": _checksum(content)}).encode()


def resealed(content, plan_too=True):
    """With the hash of its plan, too, where there is a plan to take one of."""
    from discreet.parties import Plan

    if plan_too:
        with contextlib.suppress(DiscreetError, KeyError, TypeError):
            content["plan_hash"] = Plan.from_dict(content["plan"]).hash
    return sealed(content)


def places(content, path=()):
    """Every place in a document, as the keys that lead to it."""
    found = [path] if path else []
    if isinstance(content, dict | list):
        for key in content if isinstance(content, dict) else range(len(content)):
            found += places(content[key], (*path, key))
    return found


def mutated(content, rng):
    content = copy.deepcopy(content)
    path = rng.choice([path for path in places(content) if path != ("checksum",)])
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    key, value = path[-1], holder[path[-1]]
    ways = ["odd", "drop", "twice"]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        ways += ["number"] * 3
    if key == "float64" and isinstance(value, str) and len(value) > 4:
        ways += ["array"] * 6
    way = rng.choice(ways)
    if way == "odd":
        holder[key] = copy.deepcopy(rng.choice(ODD))
    elif way == "drop":
        del holder[key]
    elif way == "twice" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    elif way == "number":
        half = value * 0.5 if abs(value) < 1e300 else 0.5
        holder[key] = rng.choice([value + 1, -value, value * 1000, value // 3, half, 1e300, -1e-300, 2**63])
    elif way == "array":
        holder[key] = base64.b64encode(spoiled(base64.b64decode(value), rng)).decode()
    else:
        holder["more"] = 1 if isinstance(holder, dict) else None
    return content


def spoiled(data, rng):
    if len(data) == 0 or len(data) % 8:  # cut before
        return data + b"x"
    array = np.frombuffer(data, "<f8").copy()
    way = rng.choice(["nan", "inf", "huge", "cut", "zero", "flip", "shuffle", "negative"])
    if way == "cut":
        return data[: rng.randrange(len(data))]
    place = rng.randrange(len(array))
    array[place] = {"nan": math.nan, "inf": -math.inf, "huge": 1e308}.get(way, array[place])
    if way == "zero":
        array[:] = 0.0
    if way == "shuffle":
        rng.shuffle(array)
    if way == "negative":
        array *= -1
    if way == "flip":
        bits = array.view(np.uint64)
        bits[place] ^= np.uint64(1) << np.uint64(rng.randrange(64))
    return array.tobytes()


@pytest.mark.parametrize("name", PLANS)
def test_no_resealed_mutation_gives_a_traceback(files, name):
    """A refusal is a DiscreetError; what is let through fits with finite numbers, or is refused
    then.
    """
    rng = random.Random(f"mutations of {name}")
    others = [PartyRelease.from_bytes(sealed(content)) for content in files[name][1:]]
    used = 0
    for _ in range(300):
        content = files[name][0]
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            content = mutated(content, rng)
        made = read(resealed(content, rng.random() < 0.8))
        if made is not None:
            used += 1
            fitted([made, *others])
    assert used  # some mutations are other noisy answers, which only a signature can tell


def read(data):
    """The release, or None after a refusal that names the file."""
    refusal = ""
    try:
        return PartyRelease.from_bytes(data, "the file")
    except ReleaseError as error:
        refusal = str(error)
    assert "the file" in refusal
    return None


def fitted(releases):
    """Fits with finite numbers and without a warning, or a refusal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            joint = join(releases)
            label = joint.columns[-1].name
            if joint.plan.calibration == "paper":
                assert np.isfinite(list(printed_ols(joint, label).values())).all()
            else:
                result = joint.regress(label)
                assert np.isfinite(result.results_.estimates).all()
                assert np.isfinite(result.results_.std_errors).all()
                assert result.notes()
            assert joint.privacy.epsilon(joint.plan.delta) > 0
    except DiscreetError:
        return False
    return True


@pytest.mark.parametrize("name", PLANS)
def test_no_mutation_of_the_plan_in_all_files_gives_a_traceback(files, name):
    rng = random.Random(f"plans of {name}")
    count = 0
    for _ in range(100):
        plan = mutated({"plan": files[name][0]["plan"]}, rng).get("plan")
        releases = [read(resealed({**copy.deepcopy(content), "plan": plan})) for content in files[name]]
        if None not in releases:
            count += fitted(releases)
    assert count  # a plan with another name of a column, say, is only another plan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(rows=99), "rows must be a whole number of at least 100"),
        (lambda content: content.update(rows=100.0), "rows must be a whole number"),
        (lambda content: content.update(rows=True), "rows must be a whole number"),
        (lambda content: content.update(rows=4000), "states another noise than its plan needs"),
        (lambda content: content.update(seeded=None), "seeded must be true or false"),
        (lambda content: content.update(party="d"), "has no party 'd'"),
        (lambda content: content.update(party="b"), "must have the shape"),
        (lambda content: content.update(party=7), "the party must be a text"),
        (lambda content: content.update(roster="a" * 64), "roster must be null"),
        (lambda content: content.update(guarantee={}), "unknown fields or lacks some: 'guarantee'"),
        (lambda content: content.update(plan_hash="x"), "another plan than its hash"),
        (lambda content: content.update(signature="0" * 128), "its plan has no public keys"),
        (lambda content: content["answers"].pop(), "lacks the answer 'mixes'"),
        (lambda content: content["answers"].append(content["answers"][0]), "more answers than its plan asks for"),
        (lambda content: content["answers"][3].update(noise_std=1e-9), "states another noise than its plan needs"),
        (lambda content: put(content, 0, [math.nan, 0.0, 0.0]), "the numbers must be finite"),
        (lambda content: put(content, 0, [math.inf, 0.0, 0.0]), "the numbers must be finite"),
        (lambda content: put(content, 0, [1e9, 0.0, 0.0]), "numbers that no release of this plan can hold"),
        (lambda content: put(content, 0, [1.0, 0.0]), "must have the shape"),
        (lambda content: content["answers"][0]["value"].update(float64="!" * 32), "are no base64"),
        (lambda content: content["answers"][0]["value"].update(float64="AAAA"), "not as many as their shape says"),
        (lambda content: put(content, 1, [[1.0, 2.0], [3.0, 4.0]]), "must be symmetric"),
        (lambda content: content["plan"].update(epsilon=9.0), "another plan than its hash"),
    ],
)
def test_what_does_not_follow_from_the_plan_is_refused(files, change, message):
    content = copy.deepcopy(files["rmgm"][0])
    change(content)
    signature = content.pop("signature", None)
    data = json.loads(sealed(content))
    if signature is not None:
        data["signature"] = signature
    with pytest.raises(ReleaseError, match=message):
        PartyRelease.from_bytes(json.dumps(data).encode(), "the file")


def put(content, place, values):
    array = np.atleast_2d(np.array(values, dtype="<f8"))
    content["answers"][place]["value"] = {
        "shape": list(array.shape),
        "float64": base64.b64encode(array.tobytes()).decode(),
    }


def test_a_guarantee_cannot_be_claimed(files):
    """The plan's budget and the number of rows decide it; the file has no place for another."""
    made = PartyRelease.from_bytes(sealed(files["rmgm"][0]))
    assert made.privacy.mu == pytest.approx(PLANS["rmgm"].party("a").budget.mu, rel=1e-12)
    assert "guarantee" not in files["rmgm"][0]


@pytest.mark.parametrize("levels", [100, 100_000])
def test_deep_files_are_refused(levels):
    with pytest.raises(ReleaseError, match="nested by more than"):
        PartyRelease.from_bytes(b'{"kind":' + b"[" * levels + b"]" * levels + b"}")
