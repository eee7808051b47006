"""The bytes of one report: fixed size, little endian, integers on the noise grid; docs/local_wire.md.

    0   magic      "dL"
    2   version    1
    3   round      1 or 2
    4   task       first 8 bytes of the task's SHA-256
    12  report id  16 random bytes, unique for ever
    28  values     report_entries signed integers of 24 bits
    -4  check      CRC-32 of all bytes before it: catches accidents, not attackers

A valid report lies in a ball around 0, which bounds what a lying device can do.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from discreet.local.plan import LARGEST
from discreet.local.task import CHECK_BYTES, HEADER_BYTES, Task

MAGIC = b"dL"
VERSION = 1
ID_BYTES = 16
_HEADER = struct.Struct("<2sBB8s16s")
assert _HEADER.size == HEADER_BYTES


class WireError(ValueError):
    """A report body that is none; the message names the rule and never a value."""


def encode(task: Task, values: NDArray[np.int64], identity: bytes) -> bytes:
    """The body of a report with these values, which must lie in the task's support."""
    if len(identity) != ID_BYTES or values.shape != (task.report_entries,) or not _in_support(task, values):
        raise WireError("values or id do not fit the task")
    head = _HEADER.pack(MAGIC, VERSION, task.round, bytes.fromhex(task.digest)[:8], identity)
    packed = values.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    return head + packed + struct.pack("<I", zlib.crc32(head + packed))


def check_body(task: Task, body: bytes) -> None:
    """Raise WireError unless these bytes are a report of this task: cheap rules first."""
    if len(body) != task.body_size:
        raise WireError(f"a report of this task has {task.body_size} bytes")
    magic, version, round_, digest, _ = _HEADER.unpack_from(body)
    if magic != MAGIC:
        raise WireError("not a discreet report")
    if version != VERSION:
        raise WireError(f"only version {VERSION} of the report format is known")
    if digest != bytes.fromhex(task.digest)[:8]:
        raise WireError("a report of another task")
    if round_ != task.round:
        raise WireError("a report of another round")
    if zlib.crc32(memoryview(body)[:-CHECK_BYTES]) != int.from_bytes(body[-CHECK_BYTES:], "little"):
        raise WireError("damaged: the check sum does not fit")
    if not _in_support(task, _values(body)):
        raise WireError("outside of the support of this task's reports")


def report_id(body: bytes) -> bytes:
    """The 16 bytes that identify a checked report."""
    return bytes(body[HEADER_BYTES - ID_BYTES : HEADER_BYTES])


def decode(task: Task, body: bytes) -> NDArray[np.int64]:
    """The integers of a report, checked."""
    check_body(task, body)
    return _values(body)


def _values(body: bytes) -> NDArray[np.int64]:
    packed = np.frombuffer(body, dtype=np.uint8, offset=HEADER_BYTES, count=len(body) - HEADER_BYTES - CHECK_BYTES)
    wide = np.zeros((len(packed) // 3, 4), dtype=np.uint8)
    # The low byte is left 0 and shifted out again, which carries the sign.
    wide[:, 1:] = packed.reshape(-1, 3)
    return (wide.view("<i4")[:, 0] >> 8).astype(np.int64)


def _in_support(task: Task, values: NDArray[np.int64]) -> bool:
    # 10,000 squares of 24-bit numbers stay below 2^60.
    return bool((np.abs(values) <= LARGEST).all()) and int(values @ values) <= task.plan.limit**2
