"""Read `plugin.json`, which says what a bundle is without loading it."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.close_names import did_you_mean
from brainsmith.errors import BundleDefinitionError, Problem
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.adapters.plugin_json_keys import KEYS, disagreements, whole_number
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.isolation import isolated, on_enough_stack
from brainsmith.plugin.mounted_folders import folder_module
from brainsmith.plugin.source_files import read_source
from brainsmith.shown import shown
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

FILE_NAME = "plugin.json"
"""The name of the file, in the folder of the library or module that it describes."""


class Manifest(Struct):
    """What a `plugin.json` says.

    Attributes:
        path: Its own path.
        places: The 1-based lines and columns of its keys.
        values: What it states, by key: versions as `Version`, `depends_on` as pairs of name and `VersionRange`.
    """

    path: str
    places: dict[str, tuple[int, int]]
    values: dict[str, Any]

    @property
    def name(self) -> str:
        """The bundle's name."""
        return str(self.values["name"])

    @property
    def line(self) -> int:
        """The 1-based line of its name."""
        return self.places["name"][0]

    @property
    def is_library(self) -> bool:
        """Whether the bundle is a native library, and no Python module."""
        return "library" in self.values

    @property
    def file(self) -> str:
        """The path of the library or module."""
        named = self.values.get("library") or self.values["module"]
        return os.path.join(os.path.dirname(self.path), named)

    def missing_file(self) -> Iterator[Problem]:
        """Report a library or module that does not exist: a library may have to be built."""
        if not os.path.isfile(self.file):
            key = "library" if self.is_library else "module"
            yield Problem(self.path, *self.places[key], f"{key}: there is no file {self.file}")

    def record(self) -> PluginInfo:
        """Return the record of type `bundle`; `extra` has the path of the file, and the ops that it offers."""
        extra: dict[str, Any] = {"path": self.path, "ops": self.values.get("ops", ()), "file": self.file}
        reference = f"{folder_module(os.path.dirname(self.path))}:{self.name}"
        return bundle_record(self.values, "project", reference, f"{self.path}:{self.line}", extra)


def bundle_record(
    stated: Mapping[str, Any], framework: str, reference: str, origin: str, extra: Mapping[str, Any]
) -> PluginInfo:
    """Return the record of type `bundle` of what a bundle states, by the keys of `plugin.json`."""
    licence = {"license": stated["license"]} if stated.get("license") else {}
    return PluginInfo(
        name=stated["name"],
        type="bundle",
        framework=framework,
        reference=reference,
        version=str(stated["version"]),
        description=stated.get("description", ""),
        author=stated.get("author", ""),
        requires_plugins=[f"{name} {versions}".rstrip() for name, versions in stated.get("depends_on") or ()],
        min_brainsmith=str(stated["min_brainsmith_version"]),
        max_brainsmith=str(stated.get("max_brainsmith_version") or ""),
        origin=origin,
        extra={**extra, **licence},
    )


def read_manifest(path: str) -> Manifest:
    """Read a `plugin.json`.

    Raises:
        BundleDefinitionError: It has errors: all of them, each with its place.
    """
    problems: list[Problem] = []
    manifest = parse_manifest(path, problems)
    if manifest is not None:
        problems.extend(manifest.missing_file())
    if manifest is None or problems:
        raise BundleDefinitionError("\n".join(map(str, problems)))
    return manifest


def parse_manifest(path: str, problems: list[Problem]) -> Manifest | None:
    """Read a `plugin.json`; what is wrong is added to the problems, and nothing is returned then.

    Args:
        path: Absolute.
        problems: Where problems go.
    """
    import json  # costs as much as a cached discovery

    found = len(problems)
    try:
        text = read_source(path).decode("utf-8")
        plain = on_enough_stack(lambda: json.loads(text, parse_int=whole_number))
    except OSError as error:
        problems.append(Problem(path, 0, 0, f"the file cannot be read: {error.strerror}"))
    except UnicodeDecodeError as error:
        problems.append(Problem(path, 0, 0, f"the file must be UTF-8 text: {error.reason}"))
    except json.JSONDecodeError as error:
        problems.append(Problem(path, error.lineno, error.colno, f"the file is not JSON: {error.msg}"))
    except ValueError as error:
        problems.append(Problem(path, 0, 0, f"the file cannot be read: {error}"))
    except RecursionError:
        problems.append(Problem(path, 0, 0, "the file is not JSON: it is nested too deeply"))
    if len(problems) > found:
        return None
    if not isinstance(plain, dict):
        text = f'the file must be a table such as {{"name": ...}}, not {shown(plain)}'
        problems.append(Problem(path, 1, 1, text))
        return None
    places = dict(_places(text, path, problems))
    values = _values(plain, path, places, problems)
    problems.extend(_missing(plain, path))
    if len(problems) == found:
        manifest = Manifest(path, places, values)
        problems.extend(_disagreements(manifest))
    return manifest if len(problems) == found else None


def discover_manifests(result: AdapterResult, paths: list[str]) -> None:
    """Add the records of some `plugin.json` files to what an adapter found."""
    for path in paths:
        own = AdapterResult(result.name)
        problem = isolated(path, _discover_manifest, own, path)
        result.add(own)
        if problem is not None:
            result.problems.append(problem)


def _discover_manifest(result: AdapterResult, path: str) -> None:
    result.clear()
    result.watched.append(path)
    manifest = parse_manifest(path, result.problems)
    if manifest is not None:
        result.problems.extend(manifest.missing_file())
        result.watched.append(manifest.file)
        result.records.append(manifest.record())


def _places(text: str, path: str, problems: list[Problem]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the keys of the outermost table, each with its line and column; a key that comes twice is a problem."""
    import json  # costs as much as a cached discovery
    import re

    depth, last, seen = 0, None, set()
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', text):
        sign = token[0]
        if sign in ("{", "["):
            depth += 1
        elif sign in ("}", "]"):
            depth -= 1
        elif sign == ":" and depth == 1 and last is not None:
            before = text[: last.start()]
            place = before.count("\n") + 1, last.start() - before.rfind("\n")
            key = json.loads(last[0])
            if key in seen:
                problems.append(Problem(path, *place, f"{shown(key)[1:-1]} is stated twice"))
            seen.add(key)
            yield key, place
        last = token if sign[0] == '"' else None


def _values(
    plain: dict[str, Any], path: str, places: dict[str, tuple[int, int]], problems: list[Problem]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in plain.items():
        if key not in KEYS:
            hint = did_you_mean(key[:100], list(KEYS))
            text = f"there is no key {shown(key)}{hint}\n  the keys are {', '.join(KEYS)}"
            problems.append(Problem(path, *places[key], text))
            continue
        try:
            values[key] = KEYS[key](value)
        except BundleDefinitionError as error:
            problems.append(Problem(path, *places[key], f"{key}: {error}"))
    return values


def _missing(plain: dict[str, Any], path: str) -> Iterator[Problem]:
    for key in ("name", "version", "min_brainsmith_version"):
        if key not in plain:
            yield Problem(path, 0, 0, f"{key} is missing")
    if ("library" in plain) == ("module" in plain):
        found = "both" if "library" in plain else "neither"
        yield Problem(path, 0, 0, f"either library or module must be stated; found {found}")


def _disagreements(manifest: Manifest) -> Iterator[Problem]:
    """Yield what is wrong among values that are right each for itself, each at its place."""
    values, path, places = manifest.values, manifest.path, manifest.places
    for key, text in disagreements(values):
        yield Problem(path, *places[key], text)
    for key in ("isolation", "time_limit"):
        if key in values and not manifest.is_library:
            text = f"{key} is for native libraries; a Python module runs in this process"
            yield Problem(path, *places[key], text)
    if "time_limit" in values and values.get("isolation") != "process" and manifest.is_library:
        yield Problem(path, *places["time_limit"], 'time_limit needs "isolation": "process"')
