"""The account of a ledger: entries, keys, totals and the history."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import LedgerError
from discreet.privacy import (
    GDP,
    Approximate,
    Budget,
    Composition,
    Ledger,
    Pure,
)
from discreet.privacy.ledger_account import (
    PART,
    Account,
    Charge,
    opening_entry,
    releases_entry,
    releases_of,
    result_entry,
    result_key,
)
from discreet.privacy.ledger_entry import Entry, digest, link
from discreet.privacy.ledger_mark import sha256

TOTAL = Budget.of(1.0, 1e-6)


def account() -> Account:
    return Account.opened("open", opening_entry(TOTAL, ledger_id="id", note="a note", time="now").fields)


def test_an_account_begins_empty_and_counts_charges():
    opened = account()
    assert (opened.charges, opened.square, opened.others, opened.note) == (0, 0, (), "a note")
    assert opened.total == TOTAL
    after = opened.charged((GDP(0.1), GDP(0.2), Pure(0.01))).charged((Pure(0.01), Approximate(0.1, 1e-9)))
    assert after.charges == 2
    assert after.square == Fraction(0.1) ** 2 + Fraction(0.2) ** 2
    assert after.others == ((Approximate(0.1, 1e-9), 1), (Pure(0.01), 2))
    assert Account.read(after.text) == after
    with pytest.raises(ValueError, match="it has no opening entry"):
        Account.opened("charge", opened.opening)
    charge = Charge("then", "label", (GDP(0.1), Pure(0.2)), "key")
    assert Charge.read(charge.entry.facts) == charge
    assert opened.after("charge", charge.entry.fields) == opened.charged((GDP(0.1), Pure(0.2)))
    assert opened.after("result", {}) is opened


def test_what_is_left_beside_mixed_costs_is_found_to_16_bits():
    mixed = account().charged((Approximate(0.2, 1e-8),))
    left = mixed.remaining.mu
    step = TOTAL.mu / 2**16
    assert left / step == pytest.approx(round(left / step), abs=1e-6)
    assert mixed.fits(GDP(left))
    assert not mixed.fits(GDP(left + 1.01 * step))
    assert mixed.spent.mu == pytest.approx((TOTAL.mu**2 - left**2) ** 0.5, rel=1e-12)
    assert Fraction(mixed.spent.mu) ** 2 + Fraction(left) ** 2 >= Fraction(TOTAL.mu) ** 2
    assert mixed.spent.epsilon == Composition((Approximate(0.2, 1e-8),)).epsilon(1e-6)
    assert not account().fits(GDP(TOTAL.mu), GDP(1e-9))
    assert account().fits(GDP(TOTAL.mu))
    assert not account().charged((Approximate(0.2, 1e-5),)).fits()


def test_releases_and_results_are_found_under_their_keys():
    made = (("look", GDP(0.1)), ("pick", Pure(0.2)))
    entry = releases_entry("key", made, "now")
    assert (entry.kind, entry.key, entry.fields["time"], entry.payload) == ("releases", "key", "now", None)
    assert releases_of(entry.facts) == made
    result = result_entry(result_key("key", "3"), made, {"b": 1, "a": 2}, "now")
    assert (result.key, result.payload) == (f"key{PART}3", '{"a":2,"b":1}')
    assert releases_of(result.facts) == made
    assert result_key("key", "") == "key"


def test_an_entry_is_linked_by_what_it_says():
    entry = Entry.of("charge", "k", {"b": 1, "a": 2}, "payload")
    assert entry.facts == '["charge","k",{"a":2,"b":1}]'
    assert entry.place == '["charge","k"'
    assert entry.fields == {"a": 2, "b": 1}
    assert Entry.read(entry.facts, "payload") == entry
    assert entry.digest == digest(entry.facts, "payload") == sha256(f"{entry.facts}\npayload")
    assert digest("facts", None) == digest("facts", "") == sha256("facts\n")
    assert link("before", "digest", "state") == sha256(f"before\ndigest\n{sha256('state')}")
    assert Entry.of("a", "b", {}).payload is None


def test_a_history_has_the_releases_of_each_fit(ledger):
    ledger.reserve([GDP(0.1)], label="fit", key="job")
    ledger.store("job", {"v": 1}, part="0", releases=(("look", GDP(0.05)),))
    ledger.store("job", {"v": 2}, part="1", releases=(("more", GDP(0.06)),))
    ledger.reserve([GDP(0.01), Pure(0.01)], label="other", key="other")
    one, two = ledger.history
    assert one.releases == (("look", GDP(0.05)), ("more", GDP(0.06)))
    assert (one.stored, two.stored, two.releases) == (True, False, ())
    assert one.cost == GDP(0.1)
    assert two.cost == Composition((GDP(0.01), Pure(0.01)))
    ledger.finish("job", (("all", GDP(0.1)),))
    ledger.finish("job", (("again", GDP(0.1)),))  # written down once
    assert ledger.history[0].releases == (("all", GDP(0.1)),)
    assert ledger.stored("job", part="0", releases=(("look", GDP(0.05)),)) == {"v": 1}
    assert ledger.stored("job", part="2") is None
    with pytest.raises(LedgerError, match="is not an answer to 'look' at this cost"):
        ledger.stored("job", part="0", releases=(("look", GDP(0.04)),))
    assert (ledger.paid("none"), ledger.paid("job")) == (None, ledger.history[0].time)
    assert ledger.opened_account().remaining.mu == ledger.total.mu
    assert (len(ledger.id), ledger.note) == (32, "of May")


def test_a_ledger_in_one_line(ledger):
    assert repr(ledger) == f"Ledger({str(ledger.path)!r}, 100% left of epsilon 1 at delta 1e-06)"
    ledger.charge(GDP(ledger.total.mu * 0.5), label="a quarter")
    assert "75% left of" in repr(ledger)
    ledger.charge(ledger.total.split([0.75, 0.25])[0], label="nearly all")
    assert "nothing left of" in repr(ledger)
    same, other = Ledger(ledger.path), Ledger.create(ledger.path.with_name("other"), epsilon=1, delta=1e-6)
    assert (ledger == same, ledger == other, ledger == str(ledger.path)) == (True, False, False)
    assert hash(ledger) == hash(same)
    ledger.path.unlink()
    assert repr(ledger) == f"Ledger({str(ledger.path)!r})"


def test_keys_are_made_where_none_is_given(ledger):
    first, second = (ledger.charge(GDP(0.01), label="x") for _ in range(2))
    assert first != second
    assert len(first) == 32
    assert ledger.charge(GDP(0.01), label=7, key=8) == "8"
    assert ledger.history[-1].label == "7"
