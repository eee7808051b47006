"""One party's release as one file: the plan, the noisy answers, a checksum, and a signature if the
plan has keys.

The file is JSON. Arrays are base64 of little-endian float64, in the order in which the plan asks.
The checksum detects accidents; only the signature shows who made the file. The file holds no time
or host, so that a retry writes the same bytes.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.documents import parsed_json, shown, write_whole
from discreet.errors import DiscreetError, ReleaseError
from discreet.parties.answers import Stored, asked
from discreet.parties.plan import MOST_PEOPLE, Plan
from discreet.parties.signing import SigningKey, check_signature
from discreet.parties.slots import check_cells
from discreet.privacy import Guarantee
from discreet.rows import Answer

KIND = "discreet party release"
# Increase this number with every change of what is computed from the answers (shares, priors,
# weights).
FORMAT = 3
Floats = NDArray[np.float64]
_FIELDS = {"kind", "format", "plan", "plan_hash", "party", "rows", "seeded", "roster", "answers"}


@dataclass(frozen=True)
class PartyRelease:
    """Noisy answers about one party's columns, and the scales that convert them to the columns'
    units.

    Encoded column i is centre[i] + scale[i] * u[i], and the mixes are sums of +-weight[i] * u[i],
    shortened to kept[i] of it on average. ``spread`` is the second moment of the encoded columns
    about the centre. ``rows`` is public, ``count`` the (noisy) number of complete ones,
    ``centre_noise`` the noise in each centre. ``mixes`` has one row per mix or slot. ``roster`` is
    the hash of who is in which row, where the method makes that public. All of these are computed
    from ``answers``, and only the answers are in the file.

    Attributes
    ----------
    plan : Plan
        The plan that it belongs to.
    party : str
        Whose columns they are.
    rows : int
        How many rows the party has; public.
    count : float
        The noisy number of complete ones.
    centre : array
        The released mean of each encoded column.
    centre_noise : array
        The noise in each centre.
    scale : array
        The released spread of each.
    weight : array
        How much each counts in the mixes.
    kept : array
        The part of each that is left after shortening, on average.
    spread : Answer
        The second moment of the encoded columns about the centre.
    mixes : Answer
        One row per mix or slot: sums of +-weight u.
    privacy : Guarantee
        What the release cost.
    answers : tuple of Answer
        All noisy answers: these alone are in the file, and the rest follows from them.
    roster : str, optional
        The hash of who is in which row, where the method makes that public.
    signature : str, optional
        The party's signature of the file.

    Examples
    --------
    >>> from discreet.parties import Plan
    >>> plan = Plan.from_dict({
    ...     "format": 2, "name": "bills", "key": "patient", "people": 5000, "guarantee": "joint",
    ...     "epsilon": 3.0, "delta": 1e-6, "seed": "public words",
    ...     "parties": [
    ...         {"name": "a", "columns": [{"name": "age", "low": 18, "high": 90}]},
    ...         {"name": "b", "columns": [{"name": "bill", "low": 0, "high": 9000}]},
    ...     ],
    ... })
    >>> import tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from discreet.parties import join, open_ledger, release
    >>> rng = np.random.default_rng(0)
    >>> patient, age = np.arange(5_000), rng.uniform(18, 90, 5_000)
    >>> frames = {"a": pd.DataFrame({"patient": patient, "age": age}),
    ...           "b": pd.DataFrame({"patient": patient, "bill": 90 * age})}
    >>> folder = tempfile.mkdtemp()
    >>> ledgers = {name: open_ledger(plan, name, f"{folder}/{name}.ledger") for name in frames}
    >>> releases = [
    ...     release(plan, name, frame, ledger=ledgers[name]) for name, frame in frames.items()
    ... ]
    >>> from discreet.parties import PartyRelease
    >>> releases[0].save(f"{folder}/a.release")
    >>> PartyRelease.load(f"{folder}/a.release").party
    'a'
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
    answers: tuple[Answer, ...]
    roster: str | None = None
    signature: str | None = None

    def signed(self, key: SigningKey) -> PartyRelease:
        """The same release with the party's signature, which the plan must have the key for.

        Parameters
        ----------
        key : SigningKey
            The party's private key.

        Returns
        -------
        PartyRelease
            The signed release.
        """
        check_key(self.plan, self.party, key)
        return replace(self, signature=key.sign(_canonical(self._content())))

    def _content(self) -> dict[str, Any]:
        return {
            "kind": KIND,
            "format": FORMAT,
            "plan": self.plan.to_dict(),
            "plan_hash": self.plan.hash,
            "party": self.party,
            "rows": self.rows,
            "seeded": self.privacy.seeded,
            "roster": self.roster,
            "answers": [
                {"label": release.label, "noise_std": answer.noise_std, "value": _packed(answer.value)}
                for release, answer in zip(self.privacy.releases, self.answers, strict=True)
            ],
        }

    def to_bytes(self) -> bytes:
        """The file's content.

        Returns
        -------
        bytes
            The file's content.
        """
        content = self._content()
        content["checksum"] = _checksum(content)
        if self.signature is not None:
            content["signature"] = self.signature
        return json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes, source: str = "release") -> PartyRelease:
        """The release in these bytes, or a ReleaseError that says what is wrong with them.

        Parameters
        ----------
        data : bytes
            A file's content.
        source : str
            What errors call the document.

        Returns
        -------
        PartyRelease
            The release.
        """
        try:
            content = parsed_json(data, source, ReleaseError)
        except ReleaseError as error:
            raise ReleaseError(f"{source} is no release, or it was cut short: {error}") from None
        if not isinstance(content, dict) or content.get("kind") != KIND:
            raise ReleaseError(f"{source} is no release, or it was cut short")
        if content.get("format") != FORMAT:
            raise ReleaseError(
                f"{source} is a release of format {shown(content.get('format'))}; this discreet reads format {FORMAT}"
            )
        checksum, signature = content.pop("checksum", None), content.pop("signature", None)
        if checksum != _checksum(content):
            raise ReleaseError(f"{source} was altered: its checksum does not fit; ask the party to send it again")
        try:
            return _read(content, signature, source)
        except ReleaseError:
            raise
        except (DiscreetError, ValueError, ArithmeticError) as error:
            told = str(error)
            raise ReleaseError(told if told.startswith(source) else f"{source} cannot be used: {told}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, completely or not at all.

        Parameters
        ----------
        path : str or path
            The file.
        """
        write_whole(Path(path), self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PartyRelease:
        """The release in a file, or an error that says what is wrong with it.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        PartyRelease
            The release.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise ReleaseError(f"cannot read {path}: {error.strerror}") from error
        return cls.from_bytes(data, str(path))


def check_key(plan: Plan, party: str, key: SigningKey | None) -> None:
    """Refuse a release that could not be signed as its plan says, before anything is spent."""
    wanted = plan.party(party).public_key
    if key is None and wanted is not None:
        raise ReleaseError(
            f"plan {plan.name!r} has a public key for {party}: give the private key that belongs to it (--key)"
        )
    if key is not None and wanted is None:
        raise ReleaseError(
            f"plan {plan.name!r} has no public keys, so nobody could check a signature: put public_key = "
            f"{key.public_key!r} into {party}'s table, and one into every other party's"
        )
    if key is not None and key.public_key != wanted:
        raise ReleaseError(f"this key is not {party}'s in plan {plan.name!r}: it is {key.public_key}, not {wanted}")


def _read(content: dict[str, Any], signature: Any, source: str) -> PartyRelease:
    if set(content) != _FIELDS:
        odd = ", ".join(sorted(shown(name) for name in set(content) ^ _FIELDS))
        raise ReleaseError(f"{source} has unknown fields or lacks some: {odd}")
    plan = Plan.from_dict(content["plan"], source=source)
    if plan.hash != content["plan_hash"]:
        raise ReleaseError(f"{source} holds another plan than its hash says")
    if not isinstance(content["party"], str):
        raise ReleaseError(f"{source}: the party must be a text")
    party = plan.party(content["party"])
    if party.public_key is not None:
        check_signature(party.public_key, _canonical(content), signature, source)
    elif signature is not None:
        raise ReleaseError(f"{source} is signed, but its plan has no public keys to check that with")
    rows, seeded = content["rows"], content["seeded"]
    if type(rows) is not int or not plan.people <= rows <= MOST_PEOPLE:
        raise ReleaseError(f"{source}: rows must be a whole number of at least {plan.people}, got {shown(rows)}")
    if type(seeded) is not bool:
        raise ReleaseError(f"{source}: seeded must be true or false, got {shown(seeded)}")
    check_cells(plan, party, rows)
    stored = Stored(_values(content["answers"], source), _roster(plan, content["roster"], source), rows, seeded, source)
    fields = asked(stored, plan, party, rows)
    stored.check_used_up()
    return PartyRelease(
        plan=plan,
        party=party.name,
        rows=rows,
        privacy=stored.guarantee,
        answers=tuple(stored.answers),
        signature=signature,
        **fields,
    )


def _roster(plan: Plan, mark: Any, source: str) -> str | None:
    public = plan.calibration == "paper" and plan.method == "dgm"
    right = isinstance(mark, str) and re.fullmatch("[0-9a-f]{64}", mark) if public else mark is None
    if not right:
        raise ReleaseError(f"{source}: roster must be {'a SHA-256' if public else 'null'}, got {shown(mark)}")
    return mark if public else None


def _values(entries: Any, source: str) -> list[tuple[Floats, float]]:
    if not isinstance(entries, list):
        raise ReleaseError(f"{source}: answers must be a list, got {shown(entries)}")
    values = []
    for entry in entries:
        if not isinstance(entry, Mapping) or set(entry) != {"label", "noise_std", "value"}:
            raise ReleaseError(f"{source}: an answer has a label, its noise_std and its value, got {shown(entry)}")
        noise = entry["noise_std"]
        if not isinstance(entry["label"], str) or isinstance(noise, bool) or not isinstance(noise, (int, float)):
            raise ReleaseError(f"{source}: an answer's label must be a text and its noise_std a number")
        values.append((_unpacked(entry["value"], f"{source}, {shown(entry['label'])}"), float(noise)))
    return values


def _canonical(content: dict[str, Any]) -> bytes:
    """The canonical text of these fields. Names are sorted, so their order carries no meaning."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical(content)).hexdigest()


def _packed(array: Floats) -> dict[str, Any]:
    data = np.ascontiguousarray(array, dtype="<f8").tobytes()
    return {"shape": list(array.shape), "float64": base64.b64encode(data).decode()}


def _unpacked(entry: Any, source: str) -> Floats:
    """The finite numbers of an array; the caller compares its shape with the plan's."""
    if not isinstance(entry, Mapping) or set(entry) != {"shape", "float64"} or not isinstance(entry["float64"], str):
        raise ReleaseError(f"{source}: an array has a shape and its numbers as base64, got {shown(entry)}")
    shape = entry["shape"]
    if not isinstance(shape, list) or not all(type(size) is int and 0 <= size <= MOST_PEOPLE for size in shape):
        raise ReleaseError(f"{source}: a shape is a list of whole numbers, got {shown(shape)}")
    try:
        data = base64.b64decode(entry["float64"], validate=True)
        array = np.frombuffer(data, dtype="<f8").astype(np.float64).reshape(shape)
    except (binascii.Error, ValueError):
        raise ReleaseError(f"{source}: the numbers are no base64, or not as many as their shape says") from None
    if not np.isfinite(array).all():
        raise ReleaseError(f"{source}: the numbers must be finite")
    return array
