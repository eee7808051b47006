"""The canonical JSON of a document (RFC 8785), the same in every language, and its SHA-256."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785

from discreet.errors import DomainError


def canonical_bytes(content: Any) -> bytes:
    """The JSON of RFC 8785: sorted keys, no spaces, numbers as ECMAScript writes them."""
    try:
        return rfc8785.dumps(content)
    except (rfc8785.CanonicalizationError, TypeError) as error:
        raise DomainError(f"a task may hold only text, finite numbers and whole numbers below 2^53: {error}") from None


def sha256_hex(content: Any) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_bytes(content)).hexdigest()
