"""Read the plugins of an installed framework that knows nothing of BrainSmith, from its sources.

- A *transform* is a class that descends from QONNX's base of transformations, and is not abstract.
- A *kernel*, *backend* or *op* is a class that the framework enters in a domain (`operators`), or one that could be:
  it descends from QONNX's base of operators, is defined below a domain, is not abstract, and nothing descends from
  it. A backend's kernel is the nearest of its ancestors that is one.
- A *step* is a function `(model, cfg)` (`builder_steps`).
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.adapters.adapter import Adapter, Reading
from brainsmith.plugin.adapters.builder_steps import step_tables
from brainsmith.plugin.adapters.relocation import relocated
from brainsmith.plugin.closure import ClassNode, declared_abstract, is_abstract
from brainsmith.plugin.info import FIELDS, PluginInfo
from brainsmith.plugin.package_files import distribution_version, package_folders

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.adapters.adapter import Package
    from brainsmith.plugin.adapters.classes import Classes
    from brainsmith.plugin.python_source import PythonSource

# What a framework's sources do not state: description, author, requires, min_ and max_brainsmith, priority, stage.
_UNSTATED = PluginInfo().to_plain()[FIELDS.index("version") + 1 : FIELDS.index("kernel")]


class PackageAdapter(Adapter):
    """Finds the plugins of one installed package."""

    name = ""
    package = ""
    closure: tuple[str, ...] = ()
    """The packages over which ancestry is followed; this one among them."""

    def version(self) -> str:
        """Return the installed version; empty if it is not recorded."""
        return distribution_version(self.package)

    def is_available(self) -> bool:
        """Tell whether the package is installed."""
        return bool(package_folders(self.package))

    def get_metadata(self) -> dict[str, Any]:
        """Return name, version and folders."""
        return {"name": self.name, "version": self.version(), "folders": package_folders(self.package)}

    def discover(self, reading: Reading) -> AdapterResult:
        """Read the package."""
        result = AdapterResult(self.name)
        unmoved = relocated(self.name, reading)
        if unmoved is not None:
            return unmoved
        package = reading.package(self.package)
        if package is None:
            result.status = "absent"
            result.detail = f"no package {self.package!r} is installed"
            return result
        result.version = reading.definitions.made(f"version of {self.package}", lambda: ((), self.version()))
        result.detail = ", ".join(package.folders)
        result.problems.extend(package.problems)
        # Ancestry is worked out over all of them.
        for name in dict.fromkeys([*reading.expected, *self.closure]):
            other = reading.package(name)
            if other is not None:
                result.watched.extend(other.watched)
        finder = _RecordFinder(self.name, package, reading.classes(self.closure), result)
        finder.find_classes()
        finder.find_steps()
        result.problems.extend(problem for source in package.sources for problem in source.problems)
        return result


class _RecordFinder:
    """Turns the classes and functions of one package into records."""

    def __init__(self, framework: str, package: Package, classes: Classes, result: AdapterResult) -> None:
        self.framework = framework
        self.package = package
        self.classes = classes
        self.result = result
        self.prefix = f"{package.name}."
        self.taken: dict[str, PluginInfo] = {}

    def find_classes(self) -> None:
        for node in self.classes.transforms:
            if node.source.file.module.startswith(self.prefix) and not is_abstract(node):
                self._add("transform", node.name, node.source, node.name, node.line)
        for node in self.classes.operators:
            if node.source.file.module.startswith(self.prefix):
                self._find_operator(node)

    def _find_operator(self, node: ClassNode) -> None:
        operators = self.classes.domains
        entry = operators.entry(node)
        if entry is None:
            home = operators.home(node)
            if not home or id(node) in self.classes.parents or declared_abstract(node):
                return
            entry = (home, node.name)
        domain, name = entry
        kind = operators.kind(domain)
        extra = {"domain": domain}
        if kind == "backend":
            kernel = self._kernel_of(node)
            self._add(kind, name, node.source, node.name, node.line, extra, kernel, domain.rpartition(".")[2])
        else:
            self._add(kind, name, node.source, node.name, node.line, extra)

    def _kernel_of(self, node: ClassNode) -> str | None:
        operators = self.classes.domains
        for ancestor in node.ancestors():
            if isinstance(ancestor, ClassNode):
                entry = operators.entry(ancestor)
                if entry is not None and operators.kind(entry[0]) == "kernel":
                    return entry[1]
        return None

    def find_steps(self) -> None:
        found = [
            (source, name, place)
            for source in self.package.sources
            for place, name in enumerate(source.ask("step_names"))
        ]
        packages = {source.file.module.rpartition(".")[0] for source, _, _ in found}
        tables = step_tables(self.package.sources, packages)
        for source, function, place in found:
            name = tables.get(f"{source.file.module}.{function}")
            extra = {"in_table": True} if name else {}
            self._add("step", name or function, source, function, source.ask("step_lines")[place], extra)

    def _add(
        self,
        plugin_type: str,
        name: str,
        source: PythonSource,
        defined: str,
        line: int,
        extra: dict[str, Any] | None = None,
        kernel: str | None = None,
        backend_type: str | None = None,
    ) -> None:
        reference, origin = f"{source.file.module}:{defined}", f"{source.file.path}:{line}"
        stated = (name, plugin_type, self.framework, reference, self.result.version)
        more = (kernel, backend_type, (), (), origin, extra or {})
        info = PluginInfo.from_plain((*stated, *_UNSTATED, *more))
        rival = self.taken.get(info.key)
        if rival is not None:
            info = self._second(rival, info)
        self.taken[info.key] = info
        self.result.records.append(info)

    def _second(self, first: PluginInfo, second: PluginInfo) -> PluginInfo:
        """Give the name to the one in the framework's public table, and the other one a longer name.

        That is a fact of a framework that is not ours, and no problem; `health` lists it.
        """
        keep, rename = first, second
        if second.get("in_table") and not first.get("in_table"):
            keep, rename = second, first
        stem = rename.module.rpartition(".")[2]
        extra = {**rename.extra, "second_of": keep.origin}
        longer = rename.replace(name=f"{stem}.{rename.name}", extra=extra)
        if rename is first:
            self.result.records[self.result.records.index(first)] = keep
            self.taken[keep.key] = keep
        return longer
