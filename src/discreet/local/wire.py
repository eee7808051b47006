"""The bytes of one report: fixed size, little endian; docs/local_wire.md.

    0   magic       "dL"
    2   version     2
    3   randomizer  1 unit, 2 gaussian
    4   task        first 8 bytes of the task's SHA-256
    12  report id   16 random bytes, unique for ever
    28  payload     unit: the number of a candidate, 2 bytes; gaussian: signed integers of 24 bits
    -4  check       CRC-32 of all bytes before it: catches accidents, not attackers

A valid report decodes to a vector of bounded length, so a lying device has bounded influence.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from discreet.local.task import CHECK_BYTES, HEADER_BYTES, Task

MAGIC = b"dL"
VERSION = 2
ID_BYTES = 16
_HEADER = struct.Struct("<2sBB8s16s")
assert _HEADER.size == HEADER_BYTES


class WireError(ValueError):
    """Bytes that are not a valid report. The message names the broken rule and never a value."""


def encode(task: Task, payload: bytes, identity: bytes) -> bytes:
    """The body of a report with this payload, which must be valid for the task."""
    if len(identity) != ID_BYTES or len(payload) != task.randomizer.payload_bytes:
        raise WireError("the payload or the id does not fit the task")
    head = _HEADER.pack(MAGIC, VERSION, task.randomizer.code, bytes.fromhex(task.digest)[:8], identity)
    return head + payload + struct.pack("<I", zlib.crc32(head + payload))


def decode(task: Task, body: bytes) -> NDArray[np.int64]:
    """The whole numbers of a report, checked: cheap rules first."""
    if len(body) != task.body_size:
        raise WireError(f"a report of this task has {task.body_size} bytes")
    magic, version, code, prefix, identity = _HEADER.unpack_from(body)
    if magic != MAGIC:
        raise WireError("not a discreet report")
    if version != VERSION:
        raise WireError(f"only version {VERSION} of the report format is known")
    if code != task.randomizer.code:
        raise WireError("a report of another randomizer")
    digest = bytes.fromhex(task.digest)
    if prefix != digest[:8]:
        raise WireError("a report of another task")
    if zlib.crc32(memoryview(body)[:-CHECK_BYTES]) != int.from_bytes(body[-CHECK_BYTES:], "little"):
        raise WireError("damaged: the checksum is wrong")
    values = task.randomizer.decode(digest, identity, bytes(body[HEADER_BYTES:-CHECK_BYTES]))
    if values is None:
        raise WireError("outside of the support of this task's reports")
    return values


def report_id(body: bytes) -> bytes:
    """The 16 bytes that identify a checked report."""
    return bytes(body[HEADER_BYTES - ID_BYTES : HEADER_BYTES])
