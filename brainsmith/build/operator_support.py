"""What becomes of operators, and by which circuits: from records and sources of plugins, of which none is imported."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from brainsmith.errors import PluginNotFoundError
from brainsmith.plugin.collections import backends_of
from brainsmith.steps.conversions import (
    ELEMENTWISE_TRANSFORM,
    OPERATORS_ABSORBED,
    Conversion,
    conversions,
    threshold_op_types,
)
from brainsmith.store.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry

THRESHOLDS = "thresholds"
EARLIER = "other operators, or nothing"
_REFUSALS = ("unsupported", "Support")
"""What backends call with the reason why they do not take a node."""


class OperatorSupport(NamedTuple):
    """One way of an operator into hardware.

    Attributes:
        operator: Of ONNX, QONNX or FINN.
        becomes: The kernels whose nodes it becomes, or what else; empty where the transform does not name it.
        transform: The transform that does it; empty if steps do.
        circuits: The backends in RTL of these kernels.
    """

    operator: str
    becomes: tuple[str, ...]
    transform: str = ""
    circuits: tuple[str, ...] = ()


class KernelSupport(NamedTuple):
    """A kernel and its backends, all by qualified names.

    Attributes:
        kernel: The kernel.
        inferred_by: The transforms whose nodes of it those are.
        rtl: Its backends in RTL.
        hls: Its backends in HLS.
    """

    kernel: str
    inferred_by: tuple[str, ...]
    rtl: tuple[str, ...]
    hls: tuple[str, ...]


def operator_support(registry: Registry) -> list[OperatorSupport]:
    """Return every way of every operator that steps convert, or that a transform which states a kernel lists; sorted."""
    stated = [info for info in registry.records("transform") if info.kernel]
    found = [way for conversion in conversions() for way in _converted(registry, conversion)]
    found += [way for info in stated for way in _inferred(registry, info)]
    found += [OperatorSupport(name, (THRESHOLDS,)) for name in threshold_op_types()]
    converted = {way.operator for way in found}
    found += [OperatorSupport(name, (EARLIER,)) for name in OPERATORS_ABSORBED if name not in converted]
    return sorted(set(found))


def kernel_support(registry: Registry) -> list[KernelSupport]:
    """Return every kernel with its backends, and the transforms that infer it; sorted."""
    inferring: dict[str, set[str]] = {}
    stated = [(info.kernel, info.qualified) for info in registry.records("transform") if info.kernel]
    pairs = [(registry.resolve("kernel", kernel).qualified, transform) for kernel, transform in stated]
    pairs += [
        (kernel, way.transform)
        for way in operator_support(registry)
        if way.transform
        for kernel in way.becomes
    ]
    for kernel, transform in pairs:
        inferring.setdefault(kernel, set()).add(transform)
    found = []
    for info in registry.records("kernel"):
        backends = backends_of(registry, info)
        rtl, hls = (
            tuple(one.qualified for one in backends if one.backend_type == kind) for kind in ("rtl", "hls")
        )
        found.append(
            KernelSupport(info.qualified, tuple(sorted(inferring.get(info.qualified, ()))), rtl, hls)
        )
    return sorted(found)


def refusals(info: PluginInfo) -> list[str]:
    """Return for which reasons a backend's file refuses nodes of its kernel; an ellipsis stands for what is filled in."""
    calls = [
        node
        for node in ast.walk(_tree(info.file))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _REFUSALS
        and node.args
    ]
    texts = [_text(node.args[0]) for node in sorted(calls, key=lambda node: node.lineno)]
    return list(dict.fromkeys(text for text in texts if text.strip("…")))


def _converted(registry: Registry, conversion: Conversion) -> Iterator[OperatorSupport]:
    try:
        info = registry.resolve("transform", conversion.transform)
    except PluginNotFoundError:  # FINN is not installed
        return
    named = _kernels_named(registry, info)
    kernels = {one.name: one for one in registry.records("kernel", info.framework)}
    for operator in conversion.op_types:
        own = kernels.get(f"Elementwise{operator}") if conversion.transform == ELEMENTWISE_TRANSFORM else None
        yield _way(registry, operator, [own] if own else named, info)


def _inferred(registry: Registry, info: PluginInfo) -> Iterator[OperatorSupport]:
    """Yield what a transform that states its kernel converts: the operators that its class lists as `op_types`."""
    kernel = registry.resolve("kernel", info.kernel or "")
    for node in (node for cls in _classes(info) for node in cls.body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "op_types" for target in targets):
            for operator in sorted(_texts(node)):
                yield _way(registry, operator, [kernel], info)


def _way(registry: Registry, operator: str, kernels: list[PluginInfo], info: PluginInfo) -> OperatorSupport:
    circuits = [
        one.qualified
        for kernel in kernels
        for one in backends_of(registry, kernel)
        if one.backend_type == "rtl"
    ]
    names = tuple(kernel.qualified for kernel in kernels)
    return OperatorSupport(operator, names, info.qualified, tuple(circuits))


def _kernels_named(registry: Registry, info: PluginInfo) -> list[PluginInfo]:
    """Return the kernels of a transform's framework whose names stand as texts in its class."""
    texts = {text for cls in _classes(info) for text in _texts(cls)}
    return [one for one in registry.records("kernel", info.framework) if one.name in texts]


def _classes(info: PluginInfo) -> list[ast.ClassDef]:
    name = info.reference.partition(":")[2]
    return [node for node in _tree(info.file).body if isinstance(node, ast.ClassDef) and node.name == name]


def _texts(node: ast.AST) -> set[str]:
    constants = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    return {value for value in constants if isinstance(value, str)}


@lru_cache(maxsize=256)
def _tree(file: str) -> ast.Module:
    return ast.parse(read_bytes(file))


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return re.sub("…+", "…", "".join(map(_text, node.values)))
    return "…"
