"""Organisations with different columns of the same people: plan, release, align, join (MPR)."""

from discreet.parties.joint import Joint, join
from discreet.parties.mixing import open_ledger, release
from discreet.parties.plan import Party, Plan
from discreet.parties.release_file import PartyRelease
from discreet.parties.results import JointResult

__all__ = ["Joint", "JointResult", "Party", "PartyRelease", "Plan", "join", "open_ledger", "release"]
