"""Where another Python environment lies, of which Python it is, and where its packages are: read, and not run."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginEnvironmentError, ToolError
from brainsmith.plugin.trust import why_folder_not_trusted
from brainsmith.settings import environments_folder
from brainsmith.store.files import read_bytes, stamp
from brainsmith.store.fingerprint import digest
from brainsmith.store.values import Kept
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brainsmith.settings import Settings

OLDEST = (3, 9)
"""The oldest Python whose plugins can be run; `worker_script` has it, too."""

READY = ".brainsmith-environment"
"""The file that an environment has which `brainsmith env create` has made to its end."""

_ASK = (
    "import sys, sysconfig\n"
    "print('.'.join(map(str, sys.version_info[:3])))\n"
    "print(sysconfig.get_paths()['purelib'])\n"
    "print(sysconfig.get_paths()['platlib'])\n"
)
_SECONDS = 30.0


class PluginEnvironment(Struct):
    """Another Python environment.

    Attributes:
        name: As the settings call it; also the framework of its plugins.
        root: Its folder.
        python: Its interpreter.
        version: Of Python, such as `3.11.7`.
        folders: Where its packages are: its site-packages, and the folders that `.pth` files there name.
        time_limit: Seconds that one call of a plugin may take; 0 for any.
    """

    name: str
    root: str
    python: str
    version: str
    folders: list[str]
    time_limit: float = 0.0

    def origin(self) -> str:
        """Return how messages name it."""
        return f"environment {self.name!r} ({self.root})"


def installed_state(folders: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return what changes when something is installed, upgraded or removed in an environment.

    What Python writes there while it imports does not change it.

    Args:
        folders: Where its packages are.

    Returns:
        The names in each folder; a distribution's with its stamp.
    """
    found = []
    for folder in folders:
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            names = []
        for name in names:
            path = os.path.join(folder, name)
            is_distribution = name.endswith((".dist-info", ".egg-info"))
            if name != "__pycache__":
                found.append((path, str(stamp(path)) if is_distribution else ""))
    return tuple(found)


def root_of(name: str, stated: dict[str, Any]) -> str:
    """Return the folder of an environment, whether it exists or not.

    Args:
        name: As the settings call it.
        stated: What they state: the folder or interpreter, or requirements; those have a folder for each list.
    """
    path: str = stated["python"]
    if not path:
        key = digest("\n".join(stated["requirements"]))[:12]
        return os.path.join(environments_folder(), f"{name}-{key}")
    if os.path.basename(os.path.dirname(path)) == "bin" and not os.path.isdir(path):
        return os.path.dirname(os.path.dirname(path))
    return path


def read_environment(name: str, settings: Settings) -> PluginEnvironment:
    """Read where an environment is that the settings name.

    Only a Python outside of virtual environments is run, once, to ask where its packages are; and only if it is trusted.

    Raises:
        PluginEnvironmentError: It does not exist, is not trusted, or its Python is too old.
    """
    stated = settings.environments[name]
    root = root_of(name, stated)
    path = stated["python"]
    is_interpreter = bool(path) and path != root
    python = path if is_interpreter else os.path.join(root, "bin", "python")
    where = f"environment {name!r} ({root})"
    if not path and not os.path.isfile(os.path.join(root, READY)):
        raise PluginEnvironmentError(f"{where} is not made yet: brainsmith env create {name}")
    if not os.path.isfile(python):
        raise PluginEnvironmentError(
            f"{where}: {python} does not exist; `python` names a virtual environment or a Python"
        )
    known = _of_virtual_environment(root)
    if known is None:
        known = _asked(python, root, where, settings)
    version, places = known
    parts = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if parts < OLDEST:
        least = ".".join(map(str, OLDEST))
        raise PluginEnvironmentError(f"{where}: its Python {version} is too old: {least} or newer is needed")
    found = list(
        {os.path.realpath(place): place for place in reversed(places) if os.path.isdir(place)}.values()
    )
    folders = list(dict.fromkeys([*found, *(folder for place in found for folder in _named_by_pth(place))]))
    return PluginEnvironment(name, root, python, version, folders, stated["time_limit"])


def _of_virtual_environment(root: str) -> tuple[str, list[str]] | None:
    """Return Python's version and the site-packages of a virtual environment; None for any other folder."""
    try:
        text = read_bytes(os.path.join(root, "pyvenv.cfg")).decode("utf-8", "replace")
    except OSError:
        return None
    pairs = (line.partition("=") for line in text.splitlines())
    values = {key.strip().lower(): value.strip() for key, _, value in pairs}
    stated = values.get("version_info") or values.get("version") or ""
    version = ".".join(stated.split(".")[:3])
    short = ".".join(version.split(".")[:2])
    if not short.replace(".", "").isdigit():
        return None
    return version, [os.path.join(root, lib, f"python{short}", "site-packages") for lib in ("lib", "lib64")]


def _asked(python: str, root: str, where: str, settings: Settings) -> tuple[str, list[str]]:
    """Ask a Python for its version and where its packages are; kept for as long as its file is the same.

    Raises:
        PluginEnvironmentError: It is not trusted, or does not answer.
    """
    kept = Kept(settings.cache_dir, "health", f"python {python}")
    state = (python, stamp(os.path.realpath(python)))
    known = kept.load(state)
    if known is None:
        untrusted = why_folder_not_trusted(root, settings, python)
        if untrusted:
            raise PluginEnvironmentError(f"{where} is not trusted: {untrusted}")
        from brainsmith.plugin.processes import run  # only for a Python outside of virtual environments

        try:
            lines = run([python, "-I", "-c", _ASK], timeout=_SECONDS, what=python).split("\n")
        except ToolError as error:
            raise PluginEnvironmentError(
                f"{where}: its Python cannot be asked for its version: {error}"
            ) from error
        known = (lines[0], list(dict.fromkeys(lines[1:3])))
        kept.save(state, known, {"of": f"Python {python}"})
    version, places = known
    return version, list(places)


def _named_by_pth(place: str) -> list[str]:
    """Return the folders that `.pth` files of a site-packages folder name: packages that are installed in place."""
    found: list[str] = []
    for name in sorted(os.listdir(place)):
        if not name.endswith(".pth"):
            continue
        try:
            lines = read_bytes(os.path.join(place, name)).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
        named = (os.path.join(place, line.strip()) for line in lines if line.strip() and line[0] != "#")
        found.extend(os.path.normpath(folder) for folder in named if os.path.isdir(folder))
    return found
