"""Keys and reads of steps as they mean the same on every machine: without a path of this one, and by content alone."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.build.environment import framework_contents
from brainsmith.build.keys import ASKED
from brainsmith.plugin.shared_places import Places
from brainsmith.store.files import working_folder
from brainsmith.store.reads import ABSENT, WORKING_FOLDER, Reads, working_folder_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.settings import Settings

_EXTENSIONS = ("sse4_2", "avx", "fma", "asimd", "sve", "amx")
"""What the names of those extensions of a processor begin with in which sums of floats may be rounded otherwise."""

_PYTHON = "python/"
"""What the names of files of Python itself begin with."""


class NotPortableError(ValueError):
    """What a key or an entry holds means something on this machine alone; the text says what."""


class PortableParts:
    """What stands for parts of keys, and for what steps read, on every machine.

    Args:
        settings: Those that hold.
        folders: Where plugins lie that belong to no framework, in the order in which they are looked for.
    """

    def __init__(self, settings: Settings, folders: Iterable[Path] = ()) -> None:
        self._settings_files = {path: f"settings {at}" for at, path in enumerate(reversed(settings.files))}
        self._roots = {
            **Places(settings).folders,
            **{f"folder{at}": str(one) for at, one in enumerate(folders)},
        }
        self._machine = _machine()
        self._versions: dict[str, str] = {}
        home = str(Path.home())
        own = (settings.project, settings.cache_dir, sys.prefix, sys.base_prefix, home, working_folder())
        self._own = tuple(
            sorted({path.rstrip(os.sep) for path in (*own, *self._roots.values()) if path} - {""})
        )

    def parts(self, parts: Mapping[str, str]) -> dict[str, str]:
        """Return the parts of a key.

        Raises:
            NotPortableError: They hold a path of this machine.
        """
        table = _table(parts["plugins"])
        plugins = {name if known == ASKED else self._name(name): known for name, known in table}
        found = {
            **parts,
            "plugins": json.dumps(plugins, sort_keys=True),
            "frameworks": self._frameworks(parts["frameworks"]),
            "machine": self._machine,
        }
        self.check(json.dumps(found, ensure_ascii=False))
        return found

    def local(self, parts: Mapping[str, str], current: Mapping[str, str]) -> dict[str, str] | None:
        """Return the parts of a key of this machine; None where plugins, frameworks or the machine are others.

        Args:
            parts: As `parts` returns them.
            current: `plugins` and `frameworks` as they are here.
        """
        try:
            asked = {name: known for name, known in _table(parts["plugins"]) if known == ASKED}
            plugins = {**dict(_table(current["plugins"])), **asked}
            found = {
                **parts,
                "plugins": json.dumps(plugins, sort_keys=True),
                "frameworks": current["frameworks"],
            }
            if self.parts(found) != dict(parts):
                return None
        except (ValueError, AttributeError):
            return None
        del found["machine"]
        return found

    def reads(self, outside: Reads) -> dict[str, dict[str, str]]:
        """Return what a step read from outside: names that mean the same everywhere, with what stands for the content.

        A file of this user, project or Python says nothing on another machine, whatever its content is: the step may name
        it by another path there, or by the same. Only settings count, which lie where the project and the user are.

        Raises:
            NotPortableError: It read such a file.
        """
        variables = dict(outside.variables)
        files = {self._read_name(path, known): known for path, known in outside.files.items()}
        for folder in outside.folders:
            self.check(folder)
        if variables.pop(WORKING_FOLDER, None) is not None:
            files[WORKING_FOLDER] = ABSENT
        return {"files": files, "folders": dict(outside.folders), "variables": variables}

    def local_reads(self, plain: Mapping[str, Mapping[str, str]]) -> Reads:
        """Return what `reads` gave as it is called on this machine."""
        names = {name: path for path, name in self._settings_files.items()}
        files = {names.get(name, name): known for name, known in plain["files"].items()}
        variables = dict(plain["variables"])
        if files.pop(WORKING_FOLDER, None) is not None:
            variables[WORKING_FOLDER] = working_folder_digest()
        for name, known in list(files.items()):
            if name.startswith(_PYTHON):
                files[str(Path(sys.base_prefix, name.removeprefix(_PYTHON)))] = files.pop(name, known)
        return Reads(files, plain["folders"], variables)

    def check(self, text: str) -> None:
        """Refuse a text that names a folder of this machine.

        Raises:
            NotPortableError: It does.
        """
        for folder in self._own:
            if folder in text:
                raise NotPortableError(f"it names {folder}")

    def _read_name(self, path: str, known: str) -> str:
        if path in self._settings_files:
            return self._settings_files[path]
        start = f"{sys.base_prefix}{os.sep}"
        if known == ABSENT and path.startswith(start) and path.endswith(".zip"):
            return _PYTHON + path.removeprefix(start)  # where Python looks for its library
        self.check(path)
        return path

    def _name(self, path: str) -> str:
        """Return a plugin's source, by the innermost place that it lies in."""
        inside = [
            (len(root), name, root)
            for name, root in self._roots.items()
            if path == root or path.startswith(f"{root}{os.sep}")
        ]
        if not inside:
            raise NotPortableError(f"it depends on {path}")
        _, name, root = max(inside)
        return f"{name}{path.removeprefix(root)}"

    def _frameworks(self, known: str) -> str:
        """Return versions with the content of sources in place of their times."""
        if known not in self._versions:
            contents = framework_contents(dict(_table(known)))
            self._versions[known] = "" if contents is None else json.dumps(contents, sort_keys=True)
        if not self._versions[known]:
            raise NotPortableError("it was made with earlier sources of the frameworks")
        return self._versions[known]


def _table(text: str) -> list[tuple[str, str]]:
    return list(json.loads(text or "{}").items())


def _machine() -> str:
    """Return the kind of machine: on another one floats may be rounded otherwise."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    flags = next(
        (line.partition(":")[2] for line in lines if line.lower().startswith(("flags", "features"))), ""
    )
    counted = sorted(flag for flag in flags.split() if flag.startswith(_EXTENSIONS))
    return " ".join([sys.platform, os.uname().machine, *counted])
