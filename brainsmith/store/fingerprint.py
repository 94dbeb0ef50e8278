"""What stands for content: the same for the same, in every process."""

from __future__ import annotations

from _imp import source_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SEED = 1


def checksum(data: bytes | memoryview) -> bytes:
    """Return 8 bytes that show damage, as the interpreter itself makes them for `.pyc` files: no import at all."""
    return bytes(source_hash(_SEED, data))


def short_digest(text: str) -> str:
    """Return 16 hexadecimal digits that stand for a text: for names of files whose content says what they are for."""
    return checksum(text.encode("utf-8", "surrogateescape")).hex()


def digest(content: bytes | str) -> str:
    """Return 40 hexadecimal digits that stand for some content; nobody finds other content with the same ones."""
    return digest_of_parts(
        (content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content,)
    )


def digest_of_parts(parts: Iterable[bytes]) -> str:
    """Return the `digest` of content that comes in parts, of which only one need be in memory."""
    from hashlib import blake2b

    whole = blake2b(digest_size=20)
    for part in parts:
        whole.update(part)
    return whole.hexdigest()
