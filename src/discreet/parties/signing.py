"""Ed25519 signatures of releases: the party keeps its private key; the plan holds the public one.

A signature shows that the holder of the key in the plan made these bytes under this plan. It does
not show that this is the agreed plan; compare the plan's hash for that.
"""

from __future__ import annotations

import os
import re
import stat
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import DomainError, ReleaseError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC_KEY_FORM = "'ed25519:' and 64 hexadecimal digits, as `discreet parties key new` prints it"
# The beginning of everything that is signed, so that other signatures by the key cannot be used as
# one of a release.
_PURPOSE = b"discreet party release\n"


def is_public_key(text: str) -> bool:
    return re.fullmatch("ed25519:[0-9a-f]{64}", text) is not None


class SigningKey:
    """A party's private key, in a PEM file that only its owner may read; ``path`` is that file.

    Parameters
    ----------
    private : Ed25519PrivateKey
        The key.
    path : Path, optional
        Its file.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.parties import SigningKey
    >>> SigningKey.create(tempfile.mkdtemp() + "/clinic.key").public_key[:8]
    'ed25519:'
    """

    def __init__(self, private: Ed25519PrivateKey, path: Path | None = None) -> None:
        self._private = private
        self.path = path

    @classmethod
    def create(cls, path: str | PathLike[str]) -> SigningKey:
        """A new key, written to the path; an existing file is never overwritten.

        Parameters
        ----------
        path : str or path
            A new file, readable by its owner only.

        Returns
        -------
        SigningKey
            The key.
        """
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        private = Ed25519PrivateKey.generate()
        pem = private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise DomainError(f"{path} exists already; a key is never overwritten, choose another name") from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        return cls(private, Path(path).resolve())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SigningKey:
        """The key in a PEM file, of `discreet parties key new` or of `openssl genpkey -algorithm
        ed25519`.

        Parameters
        ----------
        path : str or path
            A PEM file.

        Returns
        -------
        SigningKey
            The key.
        """
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        try:
            pem = Path(path).read_bytes()
            open_to = stat.S_IMODE(Path(path).stat().st_mode) & 0o077
        except OSError as error:
            raise DomainError(f"cannot read the key {path}: {error.strerror}") from None
        if open_to:
            raise DomainError(
                f"the key {path} can be read by other users, who could sign in your name; run `chmod 600` on it"
            )
        try:
            private = serialization.load_pem_private_key(pem, password=None)
        except TypeError:
            raise DomainError(f"the key {path} is encrypted; give one that is not, readable by you alone") from None
        except (ValueError, UnsupportedAlgorithm):
            private = None
        if not isinstance(private, Ed25519PrivateKey):
            raise DomainError(f"{path} holds no private Ed25519 key; make one with `discreet parties key new`")
        return cls(private, Path(path).resolve())

    @property
    def public_key(self) -> str:
        """The public key, as it is written in the plan."""
        return f"ed25519:{self._private.public_key().public_bytes_raw().hex()}"

    def sign(self, content: bytes, purpose: bytes = _PURPOSE) -> str:
        """Sign the content. The same content always has the same signature.

        Parameters
        ----------
        content : bytes
            What is signed.
        purpose : bytes
            What the signature is for; one for another purpose is refused.

        Returns
        -------
        str
            The signature.
        """
        return self._private.sign(purpose + content).hex()


def check_signature(public_key: str, content: bytes, signature: object, source: str) -> None:
    """Raise unless the holder of the plan's key signed this content."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not isinstance(signature, str) or re.fullmatch("[0-9a-f]{128}", signature) is None:
        raise ReleaseError(f"{source} is not signed, but its plan names the party's public key")
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key.removeprefix("ed25519:")))
        public.verify(bytes.fromhex(signature), _PURPOSE + content)
    except (InvalidSignature, ValueError):
        raise ReleaseError(f"{source} was not signed with the party's key in the plan: do not use it") from None
