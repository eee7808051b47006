from __future__ import annotations

import os
import stat
import time

import pytest

from discreet.errors import StoreError
from discreet.service.tokens import Keys, Role


@pytest.fixture
def keys(tmp_path):
    return Keys.create(tmp_path / "key")


@pytest.mark.parametrize("role", [Role.DEVICE, Role.ANALYST])
def test_a_token_reads_back_with_its_role(keys, role):
    token = keys.read(keys.issue(role))
    assert token is not None
    assert token.role is role


def test_a_device_token_cannot_be_renamed_to_an_analyst_token(keys):
    text = keys.issue(Role.DEVICE)
    assert keys.read(text.replace("device-", "analyst-")) is None


def test_every_changed_character_is_refused(keys):
    text = keys.issue(Role.ANALYST)
    for place in range(len(text)):
        for other in "Ax-_":
            changed = text[:place] + other + text[place + 1 :]
            token = keys.read(changed)
            # Base64 leaves two unused bits in the last character, which say nothing.
            assert token is None or changed == text or (place == len(text) - 1 and token == keys.read(text))


@pytest.mark.parametrize("text", ["", "-", "device-", "analyst-AAAA", "anyone-AAAA", "device-é", "device-" + "A" * 999])
def test_what_was_never_issued_is_refused(keys, text):
    assert keys.read(text) is None


def test_a_token_of_another_collector_is_refused(keys, tmp_path):
    other = Keys.create(tmp_path / "other")
    assert keys.read(other.issue(Role.DEVICE)) is None


def test_a_token_ends(keys):
    assert keys.read(keys.issue(Role.ANALYST, expires=int(time.time()) - 1)) is None
    assert keys.read(keys.issue(Role.ANALYST, expires=int(time.time()) + 60)) is not None


def test_the_key_file_is_for_its_owner_only_and_stays(tmp_path):
    path = tmp_path / "key"
    text = Keys.create(path).issue(Role.DEVICE)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert Keys.open(path).read(text) is not None


def test_a_file_that_is_no_key_is_named(tmp_path):
    (tmp_path / "key").write_text("hello")
    with pytest.raises(StoreError, match="no collector key"):
        Keys.open(tmp_path / "key")


def test_marks_differ_by_token_and_task_and_show_neither(keys):
    one, other = keys.read(keys.issue(Role.DEVICE)), keys.read(keys.issue(Role.DEVICE))
    assert len({keys.mark(token, task) for token in (one, other) for task in ("a", "b")}) == 4
    assert one.serial not in keys.mark(one, "a")
