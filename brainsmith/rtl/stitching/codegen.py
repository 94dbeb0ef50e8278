"""Let each layer of a model generate its RTL, FINN's and plugins' alike, and read back what they generated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.info import FINN_RTL
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.simulation_plan import DATA_FOLDER, Memory, plan_simulation
from brainsmith.rtl.stitching.suitable import check_attributes, check_layers, is_rtl

if TYPE_CHECKING:
    from collections.abc import Callable

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.library.sources import Library

MEMORY_SOURCES = ("memstream/hdl/memstream.sv", "memstream/hdl/memstream_axi.sv", "axi/hdl/axilite.sv")
MEMORY_SUFFIX = "_memstream_wrapper"
CONVERTER = "StreamingDataWidthConverter"
"""The kernel of width converters; all its backends' nodes begin with its name."""

_DECLARED = re.compile(r"^\s*(?:\(\*.*\*\)\s*)?(input|output)\s+(?:\[.*\]\s*)?(\w+)\s*,?\s*(?://.*)?$", re.M)


@dataclass(frozen=True)
class LayerCode:
    """What one layer generated.

    Attributes:
        module: The layer's own module.
        ports: Its ports, each with whether it is an input.
        memory: The module that streams its weights; empty if it has none.
        memory_ports: The ports of that.
        sources: Of both, with all that they instantiate.
        memories: Contents, by names that begin with the layer's.
    """

    module: str
    ports: tuple[tuple[str, bool], ...]
    memory: str
    memory_ports: tuple[tuple[str, bool], ...]
    sources: tuple[RtlSource, ...]
    memories: tuple[Memory, ...]


def generate_layers(
    model: ModelWrapper,
    folder: Path,
    part: str,
    period: float = 5.0,
    choose: Callable[[ModelWrapper], ModelWrapper] | None = None,
) -> ModelWrapper:
    """Insert width converters wherever two layers differ in their lanes, and let all layers generate their code.

    Args:
        model: Specialised and folded, every node an RTL layer; not changed.
        folder: Each layer is generated in a folder of its own below it.
        part: The FPGA, such as `xczu7ev-ffvc1156-2-e`.
        period: Of the clock, in nanoseconds.
        choose: Gives each converter, a node of FINN's kernel, its backend; by default they are FINN's.

    Returns:
        A copy whose nodes say where their code is (`code_gen_dir_ipgen`), as FINN's own do.

    Raises:
        BuildError: A layer cannot be stitched; nothing was generated.
    """
    check_layers(model, part)
    prepare_finn()
    from finn.transformation.fpgadataflow.insert_dwc import InsertDWC
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.custom_op.registry import getCustomOp
    from qonnx.transformation.general import GiveUniqueNodeNames

    copy = (choose or finn_converters)(ModelWrapper(model.model, make_deepcopy=True).transform(InsertDWC()))
    check_layers(copy, part)
    copy = copy.transform(GiveUniqueNodeNames())
    for node in copy.graph.node:
        if node.op_type.startswith(CONVERTER):
            # FINN gives its output a random name, and the design would never be the same.
            copy.rename_tensor(node.output[0], f"{node.name}_out0")
            copy.set_tensor_datatype(node.output[0], getCustomOp(node).get_output_datatype())
    nodes = {node.name: getCustomOp(node) for node in copy.graph.node}
    check_attributes(nodes)
    for name, layer in nodes.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        layer.set_nodeattr("code_gen_dir_ipgen", str(place))
        layer.code_generation_ipgen(copy, part, period)
        _write_thresholds(layer, copy, place)
    return copy


def finn_converters(model: ModelWrapper) -> ModelWrapper:
    """Make all converters FINN's own layers, in place."""
    for node in model.graph.node:
        if not is_rtl(node):
            node.op_type, node.domain = f"{CONVERTER}_rtl", FINN_RTL
    return model


def _write_thresholds(layer: Any, model: ModelWrapper, folder: Path) -> None:
    """Write the thresholds of a layer again where FINN lays them out for a search of another depth than its circuit's.

    FINN takes the bits of the output for the depth; the circuit has as many stages as the number of thresholds needs.
    They differ where a bias makes the output wider.
    """
    from qonnx.core.datatype import DataType

    if layer.onnx_node.op_type != "Thresholding_rtl":
        return
    stages, kind = int(layer.get_nodeattr("numSteps")).bit_length(), layer.get_nodeattr("outputDataType")
    if DataType[kind].bitwidth() == stages:
        return
    for file in folder.glob(f"{layer.onnx_node.name}_threshs_*.dat"):
        file.unlink()
    layer.set_nodeattr("outputDataType", f"UINT{stages}")
    layer.generate_params(model, str(folder))
    layer.set_nodeattr("outputDataType", kind)


def read_layer(layer: Any, library: Library) -> LayerCode:
    """Read back what a layer generated.

    Args:
        layer: QONNX's instance of the node.
        library: FINN's RTL library.

    Raises:
        BuildError: Nothing was generated for it, or not what its node says.
        RtlSourceError: The code cannot be read, or the library is not what the rules expect.
    """
    name = layer.onnx_node.name
    folder = Path(layer.get_nodeattr("code_gen_dir_ipgen"))
    if not layer.get_nodeattr("code_gen_dir_ipgen") or not folder.is_dir():
        raise BuildError(
            f"layer {name!r} has no generated code ({folder} is not a folder): run the step rtl_codegen first"
        )
    module = layer.get_nodeattr("gen_top_module")
    files = [*layer.get_rtl_file_list(abspath=True)]
    memory = f"{module}{MEMORY_SUFFIX}" if (folder / f"{module}{MEMORY_SUFFIX}.v").exists() else ""
    if memory:
        files += [*MEMORY_SOURCES, folder / f"{memory}.v"]
    plan = plan_simulation(module, files, library, generated=folder)
    names = {one.name: _own_name(one.name, module) for one in plan.memories}
    sources = tuple(_renamed(source, names) for source in plan.sources)
    return LayerCode(
        module=module,
        ports=_ports(module, sources),
        memory=memory,
        memory_ports=_ports(memory, sources) if memory else (),
        sources=sources,
        memories=tuple(Memory(names[one.name], one.text) for one in plan.memories),
    )


def _own_name(memory: str, module: str) -> str:
    """Return a name for a memory's content that no other layer uses; FINN calls all weights the same."""
    return memory if memory.startswith(f"{module}_") else f"{module}_{memory}"


def _renamed(source: RtlSource, names: dict[str, str]) -> RtlSource:
    text = source.text
    for before, after in names.items():
        text = text.replace(f'"{DATA_FOLDER}/{before}"', f'"{DATA_FOLDER}/{after}"')
    return RtlSource(source.name, text, source.rules)


def _ports(module: str, sources: tuple[RtlSource, ...]) -> tuple[tuple[str, bool], ...]:
    """Read the ports of a generated module, each of which is declared on a line of its own."""
    begin = re.compile(rf"^\s*module\s+{re.escape(module)}\b", re.M)
    for source in sources:
        found = begin.search(source.text)
        if found:
            head = source.text[found.start() : source.text.index(");", found.end())]
            return tuple((name, kind == "input") for kind, name in _DECLARED.findall(head))
    raise BuildError(f"the generated code has no module {module!r}, so the layer cannot be connected")
