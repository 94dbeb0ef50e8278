"""SpecializeKernels: choose a backend for every kernel's node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from qonnx.custom_op.registry import getCustomOp
from qonnx.transformation.base import Transformation
from qonnx.transformation.general import GiveUniqueNodeNames

from brainsmith.errors import BuildError
from brainsmith.plugin.core import transform
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.node_claims import op_type_of
from brainsmith.rtl.cores.finn_choice import FRAMEWORK, STYLE, finn_supports, waits_for_folding
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.shown import typed_text
from brainsmith.transforms.backend_order import BackendOrder
from brainsmith.transforms.graph_view import attribute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry
    from brainsmith.transforms.backend_order import Order


@dataclass(frozen=True)
class Refusal:
    """A backend that cannot be a node.

    Attributes:
        backend: Its qualified name.
        reason: Why, as the end of a sentence.
    """

    backend: str
    reason: str


@dataclass(frozen=True)
class Choice:
    """The backend of one node.

    Attributes:
        node: The node's name, as a kernel's.
        layer: Its name now, as a backend's.
        kernel: The qualified name of its kernel.
        backend: The qualified name of its backend.
        backend_type: `hls` or `rtl`.
        reason: Why this one.
        refused: The backends that would have been preferred, and cannot be this node.
    """

    node: str
    layer: str
    kernel: str
    backend: str
    backend_type: str
    reason: str
    refused: tuple[Refusal, ...] = ()

    def __str__(self) -> str:
        refused = "".join(f"; not {one.backend}, because {one.reason}" for one in self.refused)
        return f"{self.layer}: {self.backend} ({self.reason}{refused})"


@transform(
    stage="hardware",
    description="Choose a backend for every node of a kernel, by what is asked for, the part and what backends support",
    requires=("finn-plus",),
    tags=("backends",),
)
class SpecializeKernels(Transformation):
    """Turn each kernel's node into a node of the first of its backends that supports it.

    Backends are those that are registered for the kernel, FINN's and any other's; another framework's kernel of the
    same name has its own. Each is asked in its order (`supports(node, part)`), until one can be the node; those that
    have no `supports` can be any. FINN's own are asked for through FINN's rules. Only what is asked is imported.

    Args:
        part: The FPGA, such as `xczu7ev-ffvc1156-2-e`.
        preferences: Backends by kernels: types (`rtl`) or names, the preferred one first; `*` stands for all kernels
            that are not named. A kernel that is not listed may have any, RTL before HLS.
        registry: Of the plugins; the installed ones by default.

    Attributes:
        choices: What was chosen when the transform was last applied, in the graph's order.

    Raises:
        BuildError: Nodes that none of their backends can be; all of them, with each backend's reason. Or a backend
            raised an error when it was asked.
    """

    def __init__(
        self,
        part: str = "",
        preferences: Mapping[str, Sequence[str]] | None = None,
        registry: Registry | None = None,
    ) -> None:
        super().__init__()
        self._part = part
        self._preferences = preferences or {}
        self._registry = registry
        self.choices: tuple[Choice, ...] = ()

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Choose for all nodes, then change them; nothing is changed if one has no backend."""
        order = BackendOrder(self._registry or get_plugin_manager().registry_with_finn(), self._preferences)
        found: dict[int, tuple[PluginInfo, Choice]] = {}
        stuck = []
        for at, node in enumerate(model.graph.node):
            kernel = order.kernel_of(node)
            if kernel is None:
                continue
            wanted = order.of(kernel, _style(node))
            if not wanted.backends and waits_for_folding(kernel):
                continue
            backend, refused = self._first(model, node, wanted)
            if backend is None:
                stuck.append(_describe(node, kernel, wanted, refused))
            else:
                found[at] = (backend, _choice(node, kernel, backend, wanted, refused))
        if stuck:
            raise BuildError(_none_fits(self._part, stuck))
        for at, (backend, _) in found.items():
            _specialise(model.graph.node[at], backend)
        if found:
            model = model.transform(GiveUniqueNodeNames())
        named = [(model.graph.node[at].name, choice) for at, (_, choice) in found.items()]
        self.choices = tuple(replace(choice, layer=name) for name, choice in named)
        return model, False

    def others(self, model: ModelWrapper, node: NodeProto, backend_type: str) -> list[tuple[str, NodeProto]]:
        """Return the backends of a type, FINN's own left out, that can be a node, and the node as theirs.

        Args:
            model: Holds the node's constants.
            node: Of a kernel; not changed.
            backend_type: `hls` or `rtl`.
        """
        order = BackendOrder(self._registry or get_plugin_manager().registry_with_finn(), self._preferences)
        kernel, found = order.kernel_of(node), []
        for backend in order.of(kernel, _style(node)).backends if kernel is not None else ():
            own = backend.framework == FRAMEWORK or backend.backend_type != backend_type
            if not own and self._supports(model, node, backend):
                other = type(node)()
                other.CopyFrom(node)
                _specialise(other, backend)
                found.append((backend.qualified, other))
        return found

    def _first(
        self, model: ModelWrapper, node: NodeProto, wanted: Order
    ) -> tuple[PluginInfo | None, tuple[Refusal, ...]]:
        """Return the first backend that can be a node, and why those before it cannot."""
        refused: list[Refusal] = []
        for backend in wanted.backends:
            support = self._supports(model, node, backend)
            if support:
                return backend, tuple(refused)
            refused.append(Refusal(backend.qualified, support.reason))
        return None, tuple(refused)

    def _supports(self, model: ModelWrapper, node: NodeProto, backend: PluginInfo) -> Support:
        if not backend.extra.get("domain"):
            return unsupported("it does not state the domain of its nodes: @backend(domain=...)")
        if backend.framework == FRAMEWORK:
            return finn_supports(model, node, str(backend.backend_type), self._part)
        supports: Any = getattr(backend.load(), "supports", None)
        operator = getCustomOp(node)
        try:
            answer = SUPPORTED if supports is None else supports(operator, self._part)
        except Exception as error:
            raise BuildError(_failed(node, backend, error)) from error
        if answer or isinstance(answer, Support):
            return answer if isinstance(answer, Support) else SUPPORTED
        return unsupported("it gave no reason")


def _style(node: NodeProto) -> str:
    """Return the type that a node itself prefers; empty if none."""
    stated: bytes = attribute(node, STYLE, b"")
    return stated.decode()


def _choice(
    node: NodeProto, kernel: PluginInfo, backend: PluginInfo, wanted: Order, refused: tuple[Refusal, ...]
) -> Choice:
    place = f"choice {len(refused) + 1} of {len(wanted.backends)}"
    return Choice(
        node=node.name,
        layer=node.name,
        kernel=kernel.qualified,
        backend=backend.qualified,
        backend_type=str(backend.backend_type),
        reason=f"{place}, {wanted.why}",
        refused=refused,
    )


def _specialise(node: NodeProto, backend: PluginInfo) -> None:
    """Make a kernel's node a backend's; its other attributes stay."""
    node.domain, node.op_type = backend.extra["domain"], op_type_of(backend)
    for stated in [one for one in node.attribute if one.name == STYLE]:
        node.attribute.remove(stated)


def _describe(node: NodeProto, kernel: PluginInfo, wanted: Order, refused: tuple[Refusal, ...]) -> str:
    """Say of a node, in lines, why it can have no backend."""
    lines = [f"  {node.name} ({kernel.qualified}), {wanted.why}:"]
    lines += [f"    {one.backend}: {one.reason}" for one in refused]
    if not refused:
        lines.append("    it has no such backend")
    if wanted.others:
        others = ", ".join(f"{info.qualified} ({info.backend_type})" for info in wanted.others)
        lines.append(f"    not listed: {others}")
    return "\n".join(lines)


def _failed(node: NodeProto, backend: PluginInfo, error: Exception) -> str:
    """Return the message of an error that a plugin raised instead of an answer."""
    return (
        f"backend '{backend.qualified}' failed when it was asked whether it supports node '{node.name}' "
        f"({backend.kernel}):\n  {typed_text(error)}\n"
        "  a backend's `supports` returns the reason why it does not support a node, and raises nothing"
    )


def _none_fits(part: str, described: list[str]) -> str:
    """Return the message of an error that names all nodes without a backend."""
    where = f" on {part}" if part else ""
    return "\n".join(
        [
            f"no allowed backend implements these layers{where}:",
            *described,
            "  `kernels` in the blueprint lists the backends that a kernel may have; `brainsmith plugins list --type "
            "backend` shows all",
        ]
    )
