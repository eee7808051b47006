"""Releases of a signed plan are accepted only if signed by their party's key in the plan."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess

import pytest
from small_plan import people, released, settings

from discreet.errors import DomainError, ReleaseError
from discreet.parties import PartyRelease, Plan, SigningKey, join, open_ledger, release
from discreet.parties.release_file import _canonical, _checksum


@pytest.fixture
def keys(tmp_path):
    return {party: SigningKey.create(tmp_path / f"{party}.key") for party in "abc"}


@pytest.fixture
def plan(keys):
    content = settings()
    for party in content["parties"]:
        party["public_key"] = keys[party["name"]].public_key
    return Plan.from_dict(content)


@pytest.fixture
def made(plan, keys):
    return [one.signed(keys[one.party]) for one in released(plan, people(200)).releases]


def altered(one, **changes):
    """With a new checksum and the old signature."""
    content = json.loads(one.to_bytes())
    signature = content.pop("signature", None)
    content.pop("checksum")
    content |= changes
    content["checksum"] = _checksum(content)
    return json.dumps(content if signature is None else {**content, "signature": signature}).encode()


def test_signed_releases_come_back_and_join(made, plan, tmp_path):
    for one in made:
        one.save(tmp_path / one.party)
        assert PartyRelease.load(tmp_path / one.party).to_bytes() == one.to_bytes()
    assert join([tmp_path / name for name in "abc"], plan=plan).plan == plan


def test_the_same_content_has_the_same_signature(made, keys):
    assert made[0].signed(keys["a"]).signature == made[0].signature


def test_unsigned_foreign_and_altered_releases_are_refused(made, plan, tmp_path):
    data = made[0].to_bytes()
    unsigned = json.loads(data)
    del unsigned["signature"]
    stranger = SigningKey.create(tmp_path / "stranger.key")
    foreign = {**unsigned, "signature": stranger._private.sign(b"anything").hex()}
    for content in (unsigned, {**unsigned, "signature": None}, {**unsigned, "signature": "0" * 127 + "x"}):
        with pytest.raises(ReleaseError, match="is not signed, but its plan names"):
            PartyRelease.from_bytes(json.dumps(content).encode())
    with pytest.raises(ReleaseError, match="not signed with the party's key in the plan"):
        PartyRelease.from_bytes(json.dumps(foreign).encode())
    other = json.loads(made[1].to_bytes())["answers"]
    for changes in ({"rows": 201}, {"answers": other}, {"seeded": True}, {"party": "b"}):
        with pytest.raises(ReleaseError, match="not signed with the party's key in the plan"):
            PartyRelease.from_bytes(altered(made[0], **changes))


def test_a_signature_that_was_made_for_something_else_is_refused(made, keys):
    """Somebody has the party sign these very bytes for another purpose: it is no release by that."""
    bare = keys["a"]._private.sign(_canonical(made[0]._content())).hex()
    with pytest.raises(ReleaseError, match="not signed with the party's key"):
        PartyRelease.from_bytes(dataclasses.replace(made[0], signature=bare).to_bytes())


def test_a_signature_holds_for_one_plan_only(made, keys):
    content = json.loads(made[0].to_bytes())["plan"] | {"seed": "t"}
    plan = Plan.from_dict(content)
    with pytest.raises(ReleaseError, match="not signed with the party's key"):
        PartyRelease.from_bytes(altered(made[0], plan=plan.to_dict(), plan_hash=plan.hash))


def test_another_plan_than_the_one_agreed_on_is_refused(made, plan, tmp_path):
    """Whoever makes up a whole set of releases signs them with keys of a plan of their own."""
    (tmp_path / "agreed.toml").write_text("format = 9")
    with pytest.raises(DomainError, match="format must be"):
        join(made, plan=tmp_path / "agreed.toml")
    agreed = Plan.from_dict({**plan.to_dict(), "seed": "ours"})
    with pytest.raises(ReleaseError, match="under another plan"):
        join(made, plan=agreed)


def test_release_wants_the_right_key_before_anything_is_spent(plan, keys, tmp_path):
    ledger = open_ledger(plan, "a", tmp_path / "a.ledger")
    unsigned = Plan.from_dict(settings())
    for plan_, key, message in [
        (plan, None, "give the private key that belongs to it"),
        (plan, keys["b"], "this key is not a's in plan"),
        (unsigned, keys["a"], "has no public keys, so nobody could check"),
    ]:
        with pytest.raises(ReleaseError, match=message):
            release(plan_, "a", people(200), ledger=ledger, key=key)
    assert ledger.history == []
    one = release(plan, "a", people(200), ledger=ledger, key=tmp_path / "a.key")
    assert release(plan, "a", people(200), ledger=ledger, key=keys["a"]).to_bytes() == one.to_bytes()
    assert PartyRelease.from_bytes(one.to_bytes()).signature == one.signature


def test_key_files_are_private_and_never_overwritten(tmp_path):
    path = tmp_path / "a.key"
    made = SigningKey.create(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert SigningKey.load(path).public_key == made.public_key
    with pytest.raises(DomainError, match="exists already"):
        SigningKey.create(path)
    path.chmod(0o644)
    with pytest.raises(DomainError, match="can be read by other users"):
        SigningKey.load(path)


def test_what_is_no_key_is_refused(tmp_path):
    path = tmp_path / "a.key"
    with pytest.raises(DomainError, match="cannot read the key"):
        SigningKey.load(path)
    for content in (b"", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", os.urandom(64)):
        path.write_bytes(content)
        path.chmod(0o600)
        with pytest.raises(DomainError, match="holds no private Ed25519 key"):
            SigningKey.load(path)


def test_keys_of_openssl_are_read_and_of_other_kinds_refused(tmp_path):
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=tmp_path)
        for path in tmp_path.glob("*.pem"):
            path.chmod(0o600)

    try:
        openssl("genpkey", "-algorithm", "ed25519", "-out", "ours.pem")
    except FileNotFoundError:
        pytest.skip("needs openssl")
    assert SigningKey.load(tmp_path / "ours.pem").public_key.startswith("ed25519:")
    openssl("genpkey", "-algorithm", "x25519", "-out", "other.pem")
    with pytest.raises(DomainError, match="holds no private Ed25519 key"):
        SigningKey.load(tmp_path / "other.pem")
    openssl("pkcs8", "-topk8", "-in", "ours.pem", "-out", "secret.pem", "-passout", "pass:abcd")
    with pytest.raises(DomainError, match="is encrypted"):
        SigningKey.load(tmp_path / "secret.pem")
