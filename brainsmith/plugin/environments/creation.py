"""Make the environments that the settings state by requirements: a virtual environment each, by uv or by venv and pip."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginEnvironmentError, ToolError
from brainsmith.plugin.environments.place import READY, root_of
from brainsmith.plugin.packages import requirement_problem
from brainsmith.plugin.processes import run
from brainsmith.plugin.tools import which
from brainsmith.store.file_lock import FileLock

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.settings import Settings

_SECONDS = 3600.0
_LONGEST_LINE = 300
_ARCHIVES = (".whl", ".gz", ".zip")


def create(name: str, settings: Settings) -> tuple[str, bool]:
    """Make an environment, unless it is made; return its folder, and whether it was made now.

    Another process that makes it is waited for.

    Raises:
        PluginEnvironmentError: The settings have no such environment, or take it as it is; a requirement is not of the
            form of PEP 508; an installer failed; the folder cannot be written; or another process makes it for too long.
    """
    stated = _stated(name, settings)
    root = root_of(name, stated)
    if _is_ready(root):
        return root, False
    _check(name, stated["requirements"])
    lock = FileLock(f"{root}.lock", _SECONDS)
    with lock:
        if lock.is_taken:
            raise PluginEnvironmentError(
                f"environment {name!r} cannot be made: another process has held {lock.path} for {_SECONDS:g} s: "
                "end that one"
            )
        if _is_ready(root):
            return root, False
        _make(name, root, stated["requirements"], settings)
    return root, True


def _is_ready(root: str) -> bool:
    return os.path.isfile(os.path.join(root, READY))


def _check(name: str, requirements: tuple[str, ...]) -> None:
    """Refuse what an installer would refuse after a while, in its own words. Paths and addresses are its own business."""
    named = [
        text
        for text in map(str.strip, requirements)
        if not text.startswith(".") and "/" not in text.partition(";")[0] and not text.endswith(_ARCHIVES)
    ]
    problems = [requirement_problem(text) for text in named]
    wrong = [problem for problem in problems if problem]
    if wrong:
        raise PluginEnvironmentError(
            f"environment {name!r} cannot be made: it requires " + "\n  and ".join(wrong)
        )


def _make(name: str, root: str, requirements: tuple[str, ...], settings: Settings) -> None:
    _remove(root)
    try:
        os.makedirs(os.path.dirname(root), exist_ok=True)
        for command in _commands(root, requirements):
            run(command, timeout=_SECONDS, what=os.path.basename(command[0]), folder=settings.project)
        with open(os.path.join(root, READY), "w", encoding="utf-8") as file:
            file.write("\n".join(requirements))
    except ToolError as error:
        _remove(root)
        raise PluginEnvironmentError(
            f"environment {name!r} cannot be made: {error}{_last(error.output)}\n"
            f"  its requirements: {', '.join(requirements)}"
        ) from error
    except OSError as error:
        _remove(root)
        raise PluginEnvironmentError(
            f"environment {name!r} cannot be made: {error.filename} cannot be written: {error.strerror}"
        ) from error
    except BaseException:  # Ctrl-C: what is half made is no environment
        _remove(root)
        raise


def _stated(name: str, settings: Settings) -> dict[str, Any]:
    if name not in settings.environments:
        from brainsmith.close_names import did_you_mean  # only where a name is wrong

        known = settings.environments
        hint = did_you_mean(name, known) or (f"; they are {', '.join(sorted(known))}" if known else "")
        raise PluginEnvironmentError(f"the settings name no environment {name!r}{hint}")
    stated = settings.environments[name]
    if stated["python"]:
        raise PluginEnvironmentError(
            f"environment {name!r} is {stated['python']}, which is used as it is; one that states requirements can be made"
        )
    return stated


def _commands(root: str, requirements: tuple[str, ...]) -> list[list[str]]:
    python = os.path.join(root, "bin", "python")
    uv = which("uv")
    if uv:
        made = [uv, "venv", "--quiet", "--python", sys.executable, root]
        install = [uv, "pip", "install", "--quiet", "--python", python, *requirements]
    else:
        made = [sys.executable, "-m", "venv", root]
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    return [made, install] if requirements else [made]


def _last(output: str) -> str:
    lines = output.strip().splitlines()[-7:-1]  # the last one is in the error
    cut = (line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ..." for line in lines)
    return "".join(f"\n    {line}" for line in cut)


def _remove(root: str) -> None:
    import shutil  # only where an environment is made

    shutil.rmtree(root, ignore_errors=True)
