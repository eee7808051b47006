"""Organisations with different columns of the same people: plan, release, align, join (MPR)."""

from discreet.parties.joint import Joint, join
from discreet.parties.mixing import release
from discreet.parties.payment import open_ledger
from discreet.parties.plan import Party, Plan
from discreet.parties.release_file import PartyRelease
from discreet.parties.results import JointResult
from discreet.parties.signing import SigningKey

__all__ = ["Joint", "JointResult", "Party", "PartyRelease", "Plan", "SigningKey", "join", "open_ledger", "release"]
