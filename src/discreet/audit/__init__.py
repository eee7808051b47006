"""Audits that anyone can run: does a model keep the guarantee that it states?"""

from discreet.audit.attacks import relu_tracing_attack, score_attack, sparse_score_attack
from discreet.audit.black_box import BlackBox, black_box, gaussian_claim
from discreet.audit.membership import Membership, trace_members
from discreet.audit.replay import Replay, replay
from discreet.audit.search import Worst, worst_neighbours
from discreet.audit.shares import ReleaseShare, release_shares

__all__ = [
    "BlackBox",
    "Membership",
    "ReleaseShare",
    "Replay",
    "Worst",
    "black_box",
    "gaussian_claim",
    "release_shares",
    "relu_tracing_attack",
    "replay",
    "score_attack",
    "sparse_score_attack",
    "trace_members",
    "worst_neighbours",
]
