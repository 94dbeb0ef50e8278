"""Check plugin files before they are used: what the scan says, and what only becomes wrong among other files."""

from __future__ import annotations

import os
import re

from brainsmith import TYPE_CHECKING
from brainsmith.close_names import did_you_mean
from brainsmith.errors import (
    BrainsmithError,
    PluginLoadError,
    PluginNotFoundError,
    PluginUnavailableError,
    Problem,
    UsageError,
)
from brainsmith.plugin.adapters.adapter import Reading
from brainsmith.plugin.adapters.plugin_json import FILE_NAME, parse_manifest
from brainsmith.plugin.isolation import isolated
from brainsmith.plugin.kind_check import KindChecker
from brainsmith.plugin.mounted_folders import folder_module
from brainsmith.plugin.node_claims import claim_message, claims
from brainsmith.plugin.package_files import package_folders
from brainsmith.plugin.plugin_loading import import_object
from brainsmith.plugin.plugin_needs import required_by
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.precedence import ADAPTED, clashes, duplicate_message, split_name
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.requirements import refuse_unusable
from brainsmith.plugin.scan import scan
from brainsmith.plugin.source_files import SourceFile, list_sources
from brainsmith.plugin.syntax import check_compiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_needs import Need


class Checked:
    """What a check found.

    Attributes:
        files: The Python files that were read.
        records: What would be registered.
        problems: What is wrong, in the order of the files.
        hints: What works, and is not usual.
    """

    def __init__(self, files: list[str]) -> None:
        self.files = files
        self.records: list[PluginInfo] = []
        self.problems: list[Problem] = []
        self.hints: list[Problem] = []


def check_sources(path: str, registry: Registry) -> Checked:
    """Read every decorated plugin in a file or folder, without importing anything.

    Args:
        path: A Python file, a `plugin.json`, or a folder of them.
        registry: All plugins there are, for clashes and names.

    Raises:
        UsageError: The path does not exist, or is no Python file.
    """
    files, manifests = _files(path)
    checked = Checked([*(file.path for file in files), *manifests])
    sources = list(Reading().sources(files, checked.problems))
    known = {info.origin: info for info in registry.records()}
    frameworks = {info.file: info.framework for info in known.values() if info.file}
    groups: dict[str, tuple[str, ...]] = {}
    kinds = KindChecker(sources)
    for source in sources:
        framework = "brainsmith" if source.file.module.startswith("brainsmith.") else "project"
        framework = frameworks.get(source.file.path, framework)
        extra = {} if "." in source.file.module and framework == "brainsmith" else _folder_extra(source)
        found = scan(source, framework, extra)
        checked.problems.extend(found.problems)
        groups.update(found.groups)
        if any(_is_syntax_error(problem) for problem in found.problems):
            continue
        further: list[Problem] = []
        problem = isolated(source.file.path, _look_further, source, found.records, kinds, further)
        checked.problems.extend(further if problem is None else [problem])
        if problem is None or not _is_syntax_error(problem):
            # A file that discovery scans too has one record only: the discovered one, which knows its module's name.
            checked.records.extend(_as_discovered(info, known) for info in found.records)
            checked.hints.extend(_file_name_hints(source, found.records))
    for manifest in manifests:
        bundle = parse_manifest(manifest, checked.problems)
        if bundle is not None:
            checked.problems.extend(bundle.missing_file())
            checked.records.append(_as_discovered(bundle.record(), known))
    checked.problems.extend(_clashes(checked.records, registry))
    names = _CheckedNames(checked.records, registry)
    checked.problems.extend(names.unknown_kernels(checked.records))
    checked.problems.extend(names.unknown_members(sources, groups))
    checked.problems.extend(_unmet_needs(checked.records, registry))
    checked.hints.extend(_hidden(checked.records, registry))
    checked.problems.sort(key=lambda problem: (problem.file, problem.line))
    return checked


def load_problems(records: Iterable[PluginInfo]) -> Iterator[Problem]:
    """Import plugins, and yield what fails: the plugin's own error, with its place."""
    for info in records:
        if info.type == "bundle" and "path" in info.extra:
            continue  # nothing is loaded beyond the plugins' own modules
        try:
            refuse_unusable(info)
            import_object(info)
        except PluginLoadError as error:
            yield Problem(info.file, info.line, 0, str(error))


def _look_further(
    source: PythonSource, records: list[PluginInfo], kinds: KindChecker, problems: list[Problem]
) -> None:
    """Find what the scan had no reason to see: all of the file is parsed and compiled.

    Raises:
        SyntaxError: The file is not Python.
    """
    problems.clear()
    source.tree  # noqa: B018  (parses, and names the byte that is no text)
    check_compiles(source.data, source.file.path)
    problems.extend(kinds.problems(source, records))


def _is_syntax_error(problem: Problem) -> bool:
    return problem.text.startswith("the file is not Python")


def _files(path: str) -> tuple[list[SourceFile], list[str]]:
    """Return the Python files and the `plugin.json` files that are meant."""
    path = os.path.abspath(path)
    if os.path.isdir(path):
        listing = list_sources(path, _module(path))
        return listing.files, listing.manifests
    if os.path.isfile(path) and os.path.basename(path) == FILE_NAME:
        return [], [path]
    if os.path.isfile(path) and path.endswith(".py"):
        stem = os.path.basename(path)[:-3]
        module = _module(os.path.dirname(path))
        is_package = stem == "__init__"
        return [SourceFile(path, module if is_package else f"{module}.{stem}", is_package)], []
    if os.path.exists(path):
        raise UsageError(f"{path}: plugins are Python files: its name must end in .py, or be {FILE_NAME}")
    raise UsageError(f"{path}: there is no such file or folder")


def _module(folder: str) -> str:
    """Return the dotted name of a folder: from the package that it belongs to, if that is where Python finds it."""
    top, names = folder, []
    while os.path.isfile(os.path.join(top, "__init__.py")):
        top, name = os.path.split(top)
        names.append(name)
    if names and os.path.join(top, names[-1]) in package_folders(names[-1]):
        return ".".join(reversed(names))
    return ".".join([folder_module(top), *reversed(names)])


def _folder_extra(source: PythonSource) -> dict[str, str]:
    """Return what loading needs to import a file that belongs to no installed package."""
    top, *rest = source.file.module.split(".")
    folder = source.file.path
    for _ in rest if not source.file.is_package else [*rest, ""]:
        folder = os.path.dirname(folder)
    return {"folder": folder} if folder_module(folder) == top else {}


def _as_discovered(info: PluginInfo, known: dict[str, PluginInfo]) -> PluginInfo:
    twin = known.get(info.origin)
    return twin if twin is not None and twin.key == info.key else info


def _clashes(records: list[PluginInfo], registry: Registry) -> Iterator[Problem]:
    """Yield names that two objects of one framework claim, within the path and with what is there already."""
    paths, own = {info.file for info in records}, {info.origin for info in records}
    there = [*(info for info in registry.records() if info.file not in paths), *records]
    for rival, info in clashes(there):
        if info.origin in own and not (info.extra.get("override") or rival.extra.get("override")):
            yield Problem(info.file, info.line, 0, duplicate_message(rival, info))
    # Two of one name and framework are reported above.
    for (domain, op_type), claimants in claims(there).items():
        distinct = {(info.key, info.framework): info for info in claimants}
        last = next((info for info in reversed(claimants) if info.origin in own), None)
        if len(distinct) > 1 and last is not None:
            yield Problem(last.file, last.line, 0, claim_message(domain, op_type, claimants))


def _unmet_needs(records: list[PluginInfo], registry: Registry) -> Iterator[Problem]:
    """Yield what plugins ask of others, in whatever version there is, that nothing here can meet."""
    known = [*registry.records(), *records]

    def find(need: Need) -> PluginInfo:
        named = [info for info in known if need.concerns(info)]
        if not named:
            kind, bare = need.type or "plugin", split_name(need.name)[1]
            names = {info.name for info in known if need.type in ("", info.type)}
            raise PluginNotFoundError(f"no {kind} named {need.name!r}{did_you_mean(bare, names)}")
        return next((info for info in named if need.is_met(info)), named[0])

    for info in records:
        try:
            required_by(info, find)
        except PluginUnavailableError as error:
            text = str(error).partition("cannot be used here: ")[2]
            yield Problem(
                info.file, info.line, 0, f"{info.type} {info.qualified!r} cannot be used here: {text}"
            )


class _CheckedNames:
    """What names mean, the checked plugins included."""

    def __init__(self, records: list[PluginInfo], registry: Registry) -> None:
        self._known: dict[str, list[PluginInfo]] = {"kernel": [], "transform": []}
        for info in [*registry.records(), *records]:
            if info.type in self._known:
                self._known[info.type].append(info)

    def _unknown(self, plugin_type: str, name: str) -> str:
        framework, bare = split_name(name)
        known = self._known[plugin_type]
        if any(info.name == bare and framework in (None, info.framework) for info in known):
            return ""
        hint = did_you_mean(bare, sorted({info.name for info in known}))
        return f"no {plugin_type} named {name!r}{hint}"

    def unknown_kernels(self, records: list[PluginInfo]) -> Iterator[Problem]:
        for info in records:
            text = self._unknown("kernel", info.kernel) if info.kernel else ""
            if text:
                text = f"kernel= of @{info.type} on {info.name!r}: {text}"
                yield Problem(info.file, info.line, 0, text)

    def unknown_members(
        self, sources: list[PythonSource], groups: dict[str, tuple[str, ...]]
    ) -> Iterator[Problem]:
        place = next((source for source in sources if b"\nGROUPS" in source.data), None)
        if place is None:
            return
        line = place.data[: place.data.index(b"\nGROUPS")].count(b"\n") + 2
        for group, members in groups.items():
            for text in filter(None, (self._unknown("transform", member) for member in members)):
                yield Problem(place.file.path, line, 0, f"group {group!r}: {text}")


def snake_case(name: str) -> str:
    """Return the usual file name of a plugin: `ExpandNorms` gives `expand_norms`, `BinaryMVAURTL` `binary_mvau_rtl`."""
    return re.sub(
        r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Z])(?=(?:RTL|HLS)$)", "_", name
    ).lower()


def _file_name_hints(source: PythonSource, records: list[PluginInfo]) -> Iterator[Problem]:
    stem = os.path.basename(source.file.path)[:-3]
    if len(records) > 1:
        names = ", ".join(info.name for info in records)
        text = f"{len(records)} plugins in one file; usual is one: {names}"
        yield Problem(source.file.path, records[1].line, 0, text)
    elif records and stem not in ("__init__", snake_case(records[0].name)):
        text = f"{records[0].name!r} usually is in {snake_case(records[0].name)}.py"
        yield Problem(source.file.path, records[0].line, 0, text)


def _hidden(records: list[PluginInfo], registry: Registry) -> Iterator[Problem]:
    for info in records:
        try:
            others = registry.providers(info.type, info.name)
        except BrainsmithError:  # a clash, which is reported as such
            continue
        adapted = [o for o in others if o.framework in ADAPTED and o.framework != info.framework]
        names = " and ".join(o.qualified for o in adapted)
        if names:
            text = f"the bare name {info.name!r} means this {info.type}, not {names}"
            yield Problem(info.file, info.line, 0, text)
