"""Make the environments that the settings state by requirements: a virtual environment each, by uv or by venv and pip."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginEnvironmentError, ToolError
from brainsmith.plugin.environments.place import READY, root_of
from brainsmith.plugin.processes import run
from brainsmith.plugin.tools import which
from brainsmith.store.file_lock import FileLock

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.settings import Settings

_SECONDS = 3600.0


def create(name: str, settings: Settings) -> tuple[str, bool]:
    """Make an environment, unless it is made; return its folder, and whether it was made now.

    Where another process makes it, this one waits until that has ended.

    Raises:
        PluginEnvironmentError: The settings have no such environment, or take it as it is; or an installer failed, or the
            folder cannot be written.
    """
    stated = _stated(name, settings)
    root = root_of(name, stated)
    with FileLock(f"{root}.lock", _SECONDS):
        if os.path.isfile(os.path.join(root, READY)):
            return root, False
        _make(name, root, stated["requirements"], settings)
    return root, True


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
    lines = output.strip().splitlines()[-6:]
    return "".join(f"\n    {line}" for line in lines)


def _remove(root: str) -> None:
    import shutil  # only where an environment is made

    shutil.rmtree(root, ignore_errors=True)
