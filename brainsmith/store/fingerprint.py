"""Digests of content: equal for equal content, in every process."""

from __future__ import annotations

from _imp import source_hash

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from hashlib import blake2b

_SEED = 1
_DIGEST_BYTES = 20
"""The length of a digest, which is written with two hexadecimal digits a byte."""


def checksum(data: bytes | memoryview) -> bytes:
    """Return 8 bytes that show damage, as the interpreter itself makes them for `.pyc` files: no import at all."""
    return bytes(source_hash(_SEED, data))


def short_digest(text: str) -> str:
    """Return 16 hexadecimal digits that stand for a text: for names of files whose content says what they are for."""
    return checksum(text.encode("utf-8", "surrogateescape")).hex()


def digest(content: bytes | str) -> str:
    """Return 40 hexadecimal digits that stand for some content; nobody finds other content with the same ones."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    return digest_of_parts([data])


def digest_of_parts(parts: Iterable[bytes]) -> str:
    """Return the `digest` of content that comes in parts, of which only one need be in memory."""
    whole = new_digest()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()


def new_digest() -> blake2b:
    """Return the digest of nothing yet, for content that is added as it comes (`update`)."""
    import hashlib

    return hashlib.blake2b(digest_size=_DIGEST_BYTES)
