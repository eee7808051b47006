"""One entry of a ledger, and how its hash is linked to the one before it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from discreet.privacy.ledger_mark import canonical_json, sha256


@dataclass(frozen=True)
class Entry:
    """A new entry.

    ``facts`` is the text of [kind, key, fields]; ``payload`` may be long, and is read on demand.
    """

    kind: str
    key: str
    facts: str
    payload: str | None = None

    @classmethod
    def of(cls, kind: str, key: str, fields: dict[str, Any], payload: str | None = None) -> Entry:
        return cls(kind, key, canonical_json([kind, key, fields]), payload)

    @classmethod
    def read(cls, facts: str, payload: str | None) -> Entry:
        kind, key, _ = json.loads(facts)
        return cls(kind, key, facts, payload)

    @property
    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads(self.facts)[2]
        return fields

    @property
    def digest(self) -> str:
        return digest(self.facts, self.payload)

    @property
    def place(self) -> str:
        """The index of the entry: its kind and key, with which its facts begin."""
        return canonical_json([self.kind, self.key])[:-1]


def digest(facts: str, payload: str | None) -> str:
    return sha256(f"{facts}\n{payload or ''}")


def link(before: str, digest: str, state: str) -> str:
    """The hash of an entry, from the hash before it, its own digest and the state after it."""
    return sha256(f"{before}\n{digest}\n{sha256(state)}")
