"""Enrolment and analyst tokens: signed by the collector's key, so that no list of them is kept
anywhere.

A token says its role, a random serial and when it ends, and carries a keyed hash of these. The
store keeps only another keyed hash of a device's token, per task, in a separate table: enough to
refuse a second report, and linked to no report.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import secrets
import time
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path

from discreet.errors import StoreError
from discreet.privacy.ledger_mark import sync_directory

_SERIAL, _EXPIRY, _SIGNATURE = 16, 5, 16
_SECRET = 32


class Role(StrEnum):
    """Who asks."""

    ANYONE = "anyone"
    DEVICE = "device"
    ANALYST = "analyst"


@dataclass(frozen=True)
class Token:
    """A token whose signature was checked; ``expires`` is in seconds since 1970, 0 for never."""

    role: Role
    serial: bytes
    expires: int


class Keys:
    """The collector's secret and everything derived from it."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) != _SECRET:
            raise StoreError(f"a collector key has {_SECRET} bytes, got {len(secret)}")
        self._secret = secret

    @classmethod
    def create(cls, path: str | os.PathLike[str]) -> Keys:
        """A new key in a new file, readable by its owner only."""
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise StoreError(f"the key {path} exists already") from None
        with os.fdopen(handle, "w") as file:
            secret = secrets.token_bytes(_SECRET)
            file.write(secret.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        sync_directory(Path(path).resolve().parent)  # a store without its key is lost
        return cls(secret)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Keys:
        """The key in this file, which ``create`` made."""
        try:
            text = Path(path).read_text().strip()
        except FileNotFoundError:
            raise StoreError(f"there is no key at {path}; `discreet local create` makes store and key") from None
        try:
            return cls(bytes.fromhex(text))
        except ValueError:
            raise StoreError(f"{path} is no collector key: it must hold {2 * _SECRET} hexadecimal digits") from None

    def issue(self, role: Role, *, expires: int = 0) -> str:
        """A new token for this role."""
        if role is Role.ANYONE:
            raise ValueError("a token is for a device or an analyst; anyone needs none")
        content = secrets.token_bytes(_SERIAL) + expires.to_bytes(_EXPIRY, "big")
        signed = content + self._hash(b"token", role.encode(), content)
        return f"{role}-{base64.urlsafe_b64encode(signed).rstrip(b'=').decode()}"

    def read(self, text: str) -> Token | None:
        """The token this text holds; None for everything that this key did not sign or that has
        ended.
        """
        role_name, _, encoded = text.partition("-")
        if role_name not in (Role.DEVICE, Role.ANALYST) or not encoded.isascii():
            return None
        try:
            signed = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        content, signature = signed[: _SERIAL + _EXPIRY], signed[_SERIAL + _EXPIRY :]
        if not hmac.compare_digest(signature, self._hash(b"token", role_name.encode(), content)):
            return None
        token = Token(Role(role_name), content[:_SERIAL], int.from_bytes(content[_SERIAL:], "big"))
        return None if token.expires and token.expires <= time.time() else token

    def mark(self, token: Token, task_digest: str) -> bytes:
        """The mark that is stored when this token has reported: a keyed hash, not stored with the
        report.

        Each round of a task is a task of its own, with its own digest.
        """
        return self._hash(b"mark", task_digest.encode(), token.serial)

    def checksum(self, *parts: bytes) -> bytes:
        """A keyed checksum of one stored row: it detects altered bytes and rows written without the
        key.
        """
        return self._hash(b"row", *parts)

    def _hash(self, purpose: bytes, *parts: bytes) -> bytes:
        state = blake2b(key=self._secret, person=purpose, digest_size=_SIGNATURE)
        for part in parts:  # lengths first, so that no two lists of parts hash the same bytes
            state.update(len(part).to_bytes(8, "big"))
            state.update(part)
        return state.digest()
