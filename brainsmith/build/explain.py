"""Say for `--explain` why a step runs again, or which build its result is taken from.

For example `its source changed, onnx was 1.20.0, and is 1.21.0 now`, or `nothing that it depends on changed; key
3fb1c08a27d4, made 2 hours ago by the build of mlp.onnx with mlp.yaml in out/mlp`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from brainsmith.build.keys import NAMED_PARTS, PARTS
from brainsmith.figures import age, plural

_SHOWN = 3  # names in one part; of more, their number is stated


def reused(key: str, seconds: float, made: Mapping[str, str]) -> str:
    """Return the text for a result from the cache.

    Args:
        key: The key of its entry.
        seconds: How long ago it was made.
        made: Which build made it: its `model`, `blueprint` and `output`, as far as they are known.
    """
    of = f" of {made['model']}" if made.get("model") else ""
    by = f" with {made['blueprint']}" if made.get("blueprint") else ""
    into = f" in {made['output']}" if made.get("output") else ""
    return f"nothing that it depends on changed; key {key[:12]}, made {age(seconds)} ago by the build{of}{by}{into}"


def first_difference(latest: Mapping[str, str] | None, parts: Mapping[str, str]) -> str:
    """Return the text for a step that runs: all differences from its latest run in this cache.

    Args:
        latest: The parts of that run's key, by the names of `PARTS`; None if it never ran.
        parts: Those of the key now.
    """
    if latest is None:
        return "it was not built before"
    reasons = [
        _named_change(part, latest.get(part, ""), parts[part]) or sentence
        for part, sentence in PARTS.items()
        if latest.get(part) != parts[part]
    ]
    return ", ".join(reasons) if reasons else "its result is no longer in the cache"


def _named_change(part: str, before: str, now: str) -> str:
    """Name the entries that differ in a part that is a table, such as versions by framework; empty for other parts."""
    if part not in NAMED_PARTS:
        return ""
    old, new = _table(before), _table(now)
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    if part == "frameworks":
        return ", ".join(
            _version_change(name, old.get(name, "absent"), new.get(name, "absent")) for name in names
        )
    changes = [_file_change(name, old, new) for name in names]
    more = len(changes) - _SHOWN
    return ", ".join(changes[:_SHOWN]) + (f" and {plural(more, 'more file')} changed" if more > 0 else "")


def _table(text: str) -> dict[str, str]:
    try:
        table = json.loads(text or "{}")
    except ValueError:
        return {}
    return table if isinstance(table, dict) else {}


def _file_change(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    if name in old and name in new:
        return f"{name} changed"
    return f"{name} was {'added' if name in new else 'removed'}"


def _version_change(name: str, before: str, now: str) -> str:
    """Compare two versions of a framework, such as `1.0.0 (digest of its sources)`."""
    if before.partition(" (")[0] == now.partition(" (")[0]:
        return f"the sources of {name} changed"
    return f"{name} was {before.partition(' (')[0]}, and is {now.partition(' (')[0]} now"
