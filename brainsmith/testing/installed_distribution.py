"""A distribution as an installer leaves it: files, and a dist-info beside them. Nothing is built or downloaded."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.plugin.distributions import distribution_key
from brainsmith.plugin.manager import reset_plugin_system

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

GROUP = "brainsmith.plugins"


def write_distribution(
    folder: Path,
    name: str,
    files: Mapping[str, str | bytes],
    entry_points: Mapping[str, str],
    version: str = "1.0.0",
) -> Path:
    """Write a distribution into a folder; return its dist-info.

    Args:
        folder: Of other distributions, perhaps; it is created.
        name: As the metadata give it.
        files: Contents by path.
        entry_points: Of the group `brainsmith.plugins`: values such as `acme.plugins` by name.
        version: Of the distribution.

    Raises:
        FileExistsError: This version of it is there.
    """
    info = folder / f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}.dist-info"
    info.mkdir(parents=True)
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else textwrap.dedent(content).encode())
    lines = [f"{key} = {value}" for key, value in entry_points.items()]
    texts = {
        "METADATA": [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"],
        "INSTALLER": ["pip"],
        "entry_points.txt": [f"[{GROUP}]", *lines],
        "RECORD": [f"{path},," for path in files],
    }
    for title, text in texts.items():
        (info / title).write_text("\n".join([*text, ""]), encoding="utf-8")
    return info


class InstalledPlugins:
    """The distributions of one test.

    Args:
        folder: For what is written.
        put_first: Puts a folder first on `sys.path`, until the test is over.
    """

    def __init__(self, folder: Path, put_first: Callable[[str], None]) -> None:
        self._folder = folder
        self._put_first = put_first
        self._sources: list[Path] = []

    def __call__(
        self,
        name: str,
        files: Mapping[str, str | bytes],
        entry_points: Mapping[str, str],
        version: str = "1.0.0",
    ) -> Path:
        """Install a distribution from texts; return the folder with its files.

        Args:
            name: As its metadata give it. The framework of its plugins is `acme-plugins` for `Acme_Plugins`.
            files: Contents by path, such as `{"acme/passes.py": source}`.
            entry_points: Of the group `brainsmith.plugins`: `{"acme": "acme.passes"}`.
            version: Of the distribution.
        """
        site = self._site(name)
        write_distribution(site, name, files, entry_points, version)
        self._enter(site)
        return site

    def project(self, folder: str | os.PathLike[str]) -> str:
        """Install a project from its folder, as `pip install --editable` does; return the framework of its plugins.

        Its `pyproject.toml` gives name, version and entry points. Its modules lie in `src`, or in the folder itself.

        Args:
            folder: With `pyproject.toml`.
        """
        root = Path(folder).resolve()
        stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        entry_points = stated.get("entry-points", {}).get(GROUP, {})
        name = str(stated["name"])
        site = self._site(name)
        write_distribution(site, name, {}, entry_points, str(stated.get("version", "0")))
        self._enter(root / "src" if (root / "src").is_dir() else root)
        self._enter(site)
        return distribution_key(name)

    def forget(self) -> None:
        """Forget the modules of these distributions, and all that was discovered."""
        places = tuple(f"{source}{os.sep}" for source in self._sources)
        for name, module in list(sys.modules.items()):
            known = getattr(module, "__dict__", {})  # whatever else is there may compute what is asked of it
            # A package that is a mere folder has no file.
            lies = (known.get("__file__") or "", *(known.get("__path__") or ()))
            if any(path.startswith(places) for path in lies):
                del sys.modules[name]
        reset_plugin_system()

    def _site(self, name: str) -> Path:
        return self._folder / "installed" / name

    def _enter(self, folder: Path) -> None:
        self._put_first(str(folder))
        self._sources.append(folder)
        reset_plugin_system()
