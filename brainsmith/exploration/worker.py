"""A process that builds points one after the other: tasks come in as lines of JSON, and results go out so.

It may die, hang or run out of memory without harm to whoever started it. What builds print goes to standard error.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

HEARTBEAT = 2.0
"""Seconds between two signs of life."""

_MEGABYTE = 1 << 20


def main() -> None:
    """Build until standard input ends."""
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what steps print is no result
    _limit_memory(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    lock = threading.Lock()

    def tell(**what: Any) -> None:
        with lock:
            results.write(json.dumps(what) + "\n")
            results.flush()

    threading.Thread(target=_beat, args=(tell,), daemon=True).start()
    for line in sys.stdin:
        task = json.loads(line)
        begin = time.perf_counter()
        tell(**_built(task), seconds=round(time.perf_counter() - begin, 3))


def _beat(tell: Any) -> None:
    while True:
        time.sleep(HEARTBEAT)
        tell(alive=True)


def _limit_memory(megabytes: int) -> None:
    if megabytes:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * _MEGABYTE, megabytes * _MEGABYTE))


def _built(task: dict[str, Any]) -> dict[str, Any]:
    """Build a point; return its figures, or why it has none."""
    from brainsmith.errors import BrainsmithError

    try:
        return {"figures": _figures(task)}
    except MemoryError:
        return {"reason": "it ran out of memory", "memory": True}
    except (BrainsmithError, OSError) as error:
        return {"reason": str(error), "kind": type(error).__name__}


def _figures(task: dict[str, Any]) -> dict[str, Any]:
    from brainsmith.blueprint.loader import load_blueprint
    from brainsmith.build import build
    from brainsmith.exploration.figures import figures_of

    blueprint = load_blueprint(task["blueprint"])
    folder = Path(task["output"])
    result = build(task["model"], blueprint, folder, produce=task["fidelity"], report=False, strict=False)
    return figures_of(result.report)


if __name__ == "__main__":
    main()
