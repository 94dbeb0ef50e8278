"""A process that builds points one after the other: tasks come in as lines of JSON, and results go out so.

It may die, hang or run out of memory without harm to whoever started it. What builds print is in their logs.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.exploration.vocabulary import FOLDING, MODELS
from brainsmith.forks import lock_of

if TYPE_CHECKING:
    from brainsmith.build.result import BuildResult

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)

HEARTBEAT = 2.0
"""Seconds between two signs of life."""

_SYSTEM = ("/usr", "/lib", "/lib64", "/etc", "/opt")
"""Where compilers and what they read are installed."""

_GRACE = 5.0
"""Seconds to end what was started, once nobody listens."""

_MEGABYTE = 1 << 20


def main(tasks: int, results: int, megabytes: int) -> None:
    """Build until no more tasks can come.

    Args:
        tasks: The file descriptor that they come from.
        results: The one that results go to.
        megabytes: Of memory that this process may take; 0 for any.
    """
    # Ctrl-C is ignored where the coordinator runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    if megabytes:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * _MEGABYTE, megabytes * _MEGABYTE))
    lock = lock_of()

    def say(**what: Any) -> None:
        with lock:
            os.write(results, json.dumps(what).encode() + b"\n")

    threading.Thread(target=_beat, args=(say,), daemon=True).start()
    _get_ready()
    with suppress(KeyboardInterrupt), os.fdopen(tasks, encoding="utf-8") as lines:
        for line in lines:
            begin = time.perf_counter()
            answer = _built(json.loads(line))
            say(**answer, seconds=round(time.perf_counter() - begin, 3))
    sys.exit()


def _get_ready() -> None:
    """Import what each point needs, while the coordinator finds out which points there are."""
    import onnxruntime  # noqa: F401
    import qonnx.core.modelwrapper  # noqa: F401

    import brainsmith.blueprint.loader
    import brainsmith.build.build_model
    import brainsmith.build.job  # noqa: F401


def _beat(say: Any) -> None:
    while True:
        time.sleep(HEARTBEAT)
        try:
            say(alive=True)
        except OSError:  # nobody listens any more: end what was started, as Ctrl-C does
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(_GRACE)
            os._exit(1)


def _built(task: dict[str, Any]) -> dict[str, Any]:
    """Build a point; return its figures, or why it has no figures. Or return what points are built with here."""
    from brainsmith.errors import BrainsmithError

    try:
        if task.get("environment"):
            from brainsmith.build.environment import environment

            return {"environment": environment()}
        return _front(task) if task["fidelity"] == MODELS else _figures(task)
    except MemoryError:
        return {"reason": "it ran out of memory", "memory": True}
    except (BrainsmithError, OSError) as error:
        return {"reason": str(error), "kind": type(error).__name__, "full": _is_full(error)}


def _is_full(error: BaseException | None) -> bool:
    """Tell whether the disk is the cause: the point itself may be fine."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        error = error.__cause__ or error.__context__
    return False


def _front(task: dict[str, Any]) -> dict[str, Any]:
    """Return as figures what the step `rate_front` reports in place of `fold`; the point's own rate does not matter."""
    from dataclasses import replace

    from brainsmith.blueprint.loader import load_blueprint
    from brainsmith.blueprint.schema import DEFAULT_STEPS, PHASES, PluginName, StepEntry
    from brainsmith.build import build

    blueprint = load_blueprint(task["blueprint"])
    order = blueprint.steps or [
        StepEntry("phase" if name in PHASES else "step", PluginName(name)) for name in DEFAULT_STEPS
    ]
    names = [entry.name.name for entry in order]
    before = order[: names.index(FOLDING)]
    listed = replace(
        blueprint,
        steps=(*before, StepEntry("step", PluginName("rate_front"))),
        args={name: given for name, given in blueprint.args.items() if name in names[: len(before)]},
        goal=replace(blueprint.goal, fps=None, fit=None),
        output=None,
    )
    folder = Path(task["output"])
    result = build(
        task["model"],
        listed,
        folder,
        verify=False,
        report=False,
        strict=False,
        use_cache=task.get("use_cache", True),
    )
    front = json.loads((folder / "report" / "front.json").read_text("utf-8"))
    return _answer(front, result)


def _answer(figures: Any, result: BuildResult) -> dict[str, Any]:
    """Return figures, what the steps read from outside, and what of that is the environment: where code lies."""
    from brainsmith.build.keys import plugin_places
    from brainsmith.plugin.manager import get_plugin_manager
    from brainsmith.settings import load_settings

    registry, _ = get_plugin_manager().all_records()
    code = {sys.prefix, sys.base_prefix, str(Path(__file__).parents[1]), *_SYSTEM}
    places = map(str, plugin_places(load_settings(), registry))
    return {
        "figures": figures,
        "outside": result.outside.plain(),
        "code": sorted({*code, *places}),
    }


def _figures(task: dict[str, Any]) -> dict[str, Any]:
    from brainsmith.blueprint.loader import load_blueprint
    from brainsmith.build import build
    from brainsmith.build.report_figures import figures_of

    blueprint = load_blueprint(task["blueprint"])
    folder = Path(task["output"])
    result = build(
        task["model"],
        blueprint,
        folder,
        produce=task["fidelity"],
        strict=False,
        use_cache=task.get("use_cache", True),
    )
    return _answer(figures_of(result.report), result)
