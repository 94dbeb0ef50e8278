"""Where the pages of plugins are in a site: names that every file system and web server takes, each one once."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 100


def page_addresses(keys: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Return the address of each plugin's page: `transform/finn.Streamline.html`.

    What no file name should hold is replaced; then, and where two names differ in case alone, a part of a digest makes it
    unique. So an address depends on nothing but the plugin and those of the same name.

    Args:
        keys: Type, framework, name and reference of each plugin.
    """
    plain = [_plain_address(*key[:3]) for key in keys]
    counts = Counter(address.lower() for address in plain)
    return [
        f"{address if counts[address.lower()] == 1 and _is_exact(key) else _told_apart(address, key)}.html"
        for address, key in zip(plain, keys, strict=True)
    ]


def _plain_address(plugin_type: str, framework: str, name: str) -> str:
    stem = _UNSAFE.sub("_", f"{framework}.{name}")[:_LONGEST].lstrip(".")
    return f"{plugin_type}/{stem or '_'}"


def _is_exact(key: tuple[str, str, str, str]) -> bool:
    """Tell whether nothing was replaced: the address then says which plugin it is."""
    stem = f"{key[1]}.{key[2]}"
    return len(stem) <= _LONGEST and not _UNSAFE.search(stem) and not stem.startswith(".")


def _told_apart(address: str, key: tuple[str, str, str, str]) -> str:
    digest = hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{address}~{digest[:8]}"  # a sign that no plain address has
