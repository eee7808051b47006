"""One party's release as one file: what was released, the plan, the guarantee and a checksum over all of it.

The file is JSON. Arrays are base64 of little-endian float64. It holds nothing but the plan and noisy answers, and no
time or host, so that a retry writes the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ReleaseError
from discreet.parties.plan import Plan
from discreet.privacy import Guarantee, Release, unit_from_dict
from discreet.rows import Answer

KIND = "discreet party release"
FORMAT = 2
Floats = NDArray[np.float64]
_ARRAYS = ("centre", "centre_noise", "scale", "weight", "kept")


@dataclass(frozen=True)
class PartyRelease:
    """Noisy answers about one party's columns, and what turns them back into the columns' units.

    Encoded column i is centre[i] + scale[i] * u[i], and the mixes are sums of +-weight[i] * u[i], shortened to kept[i]
    of it on average. ``spread`` is the second moment of the encoded columns about the centre. ``rows`` is public,
    ``count`` the (noisy) number of complete ones, ``centre_noise`` the noise in each centre. ``mixes`` has one row per
    mix or slot. ``roster`` marks who stands in which row, where the method makes that public.
    """

    plan: Plan
    party: str
    rows: int
    count: float
    centre: Floats
    centre_noise: Floats
    scale: Floats
    weight: Floats
    kept: Floats
    spread: Answer
    mixes: Answer
    privacy: Guarantee
    roster: str | None = None

    def to_bytes(self) -> bytes:
        content = {
            "kind": KIND,
            "format": FORMAT,
            "plan": self.plan.to_dict(),
            "plan_hash": self.plan.hash,
            "party": self.party,
            "rows": self.rows,
            "count": self.count,
            "roster": self.roster,
            **{name: _packed(getattr(self, name)) for name in _ARRAYS},
            "spread": _packed_answer(self.spread),
            "mixes": _packed_answer(self.mixes),
            "guarantee": _packed_guarantee(self.privacy),
        }
        return json.dumps({**content, "checksum": _checksum(content)}, indent=1, sort_keys=True).encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes, source: str = "release") -> PartyRelease:
        """The release in these bytes, or a ReleaseError that says what is wrong with them."""
        try:
            content = json.loads(data)
            checksum = content.pop("checksum")
            kind, version = content["kind"], content["format"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ReleaseError(f"{source} is no release, or it was cut short") from None
        if kind != KIND or version != FORMAT:
            raise ReleaseError(f"{source} is {kind!r} of format {version!r}; this discreet reads {KIND!r} of {FORMAT}")
        if checksum != _checksum(content):
            raise ReleaseError(f"{source} was altered: its checksum does not fit; ask the party to send it again")
        plan = Plan.from_dict(content["plan"], source=source)
        if plan.hash != content["plan_hash"]:
            raise ReleaseError(f"{source} holds another plan than its hash says")
        return cls(
            plan=plan,
            party=content["party"],
            rows=content["rows"],
            count=content["count"],
            **{name: _unpacked(content[name]) for name in _ARRAYS},
            spread=_unpacked_answer(content["spread"]),
            mixes=_unpacked_answer(content["mixes"]),
            privacy=_unpacked_guarantee(content["guarantee"]),
            roster=content["roster"],
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file whole or not at all."""
        write_whole(Path(path), self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PartyRelease:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise ReleaseError(f"cannot read {path}: {error.strerror}") from error
        return cls.from_bytes(data, str(path))


def write_whole(path: Path, data: bytes) -> None:
    """Put the bytes at the path in one step, on disk: a crash leaves what was there before."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _packed(array: Floats) -> dict[str, Any]:
    data = np.ascontiguousarray(array, dtype="<f8").tobytes()
    return {"shape": list(array.shape), "float64": base64.b64encode(data).decode()}


def _unpacked(entry: dict[str, Any]) -> Floats:
    return np.frombuffer(base64.b64decode(entry["float64"]), dtype="<f8").astype(np.float64).reshape(entry["shape"])


def _packed_answer(answer: Answer) -> dict[str, Any]:
    # JSON has no infinity, which stands for an answer that was never asked for.
    noise = answer.noise_std if math.isfinite(answer.noise_std) else None
    return {"value": _packed(answer.value), "noise_std": noise, "isotropic": answer.isotropic}


def _unpacked_answer(entry: dict[str, Any]) -> Answer:
    noise = math.inf if entry["noise_std"] is None else entry["noise_std"]
    return Answer(_unpacked(entry["value"]), noise, entry["isotropic"])


def _packed_guarantee(guarantee: Guarantee) -> dict[str, Any]:
    releases = [
        {"label": one.label, "sensitivity": one.sensitivity, "noise_std": one.noise_std, "cost": one.cost.to_dict()}
        for one in guarantee.releases
    ]
    return {"neighbours": guarantee.neighbours, "seeded": guarantee.seeded, "releases": releases}


def _unpacked_guarantee(entry: dict[str, Any]) -> Guarantee:
    releases = tuple(
        Release(one["label"], one["sensitivity"], one["noise_std"], unit_from_dict(one["cost"]))
        for one in entry["releases"]
    )
    return Guarantee(releases, entry["neighbours"], seeded=entry["seeded"])
