"""Say why a step was not taken from the cache."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SENTENCES = {
    "source": "its source changed",
    "arguments": "its arguments changed",
    "inputs": "the files that it declares as inputs changed",
    "cfg": "FINN's own config came in or went",
    "changes": "an earlier step changes cfg otherwise",
    "plugins": "plugins of the project or of a package changed",
    "model": "the model before it is another one",
    "files": "what earlier steps left in the output folder changed",
}


def first_difference(latest: Mapping[str, str] | None, parts: Mapping[str, str]) -> str:
    """Compare a step with its latest run in this cache, and name all that differs."""
    if latest is None:
        return "it was not built before"
    reasons = [sentence for part, sentence in _SENTENCES.items() if latest.get(part) != parts.get(part)]
    if latest.get("frameworks") != parts["frameworks"]:
        reasons.append(_version_change(latest.get("frameworks", "{}"), parts["frameworks"]))
    return ", ".join(reasons) if reasons else "its result is no longer in the cache"


def _version_change(before: str, now: str) -> str:
    try:
        old = json.loads(before)
    except ValueError:
        old = {}
    new = json.loads(now)
    changed = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return ", ".join(_change(name, old.get(name, "absent"), new.get(name, "absent")) for name in changed)


def _change(name: str, before: str, now: str) -> str:
    """Compare two versions of a framework, such as `1.0.0 (digest of its sources)`."""
    if before.partition(" (")[0] == now.partition(" (")[0]:
        return f"the sources of {name} changed"
    return f"{name} was {before.partition(' (')[0]}, and is {now.partition(' (')[0]} now"
