"""Many layers side by side in one simulation: each is fed and emptied alone, without stalls and with random ones.

One build serves many cases, so a property is drawn as a list of cases. What is expected is the kernel's Python model.
"""

import os
import subprocess
from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.rtl.simulation.build import build_simulator
from brainsmith.rtl.simulation.toolchain import find_toolchain
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.synthesis.synthesise import synthesise
from brainsmith.rtl.verification.frames import design_beats
from brainsmith.rtl.verification.layers import take_apart, verify_layers

PART = "xczu7ev-ffvc1156-2-e"
RTL = "finn.custom_op.fpgadataflow.rtl"
WHOLE = 2**24
"""Up to here all whole numbers are exact in a float32, in which the Python models give theirs."""


@dataclass
class Case:
    """One node.

    Attributes:
        op_type: Of the backend's node.
        inputs: Shape of a frame and datatype of each input that is fed.
        outputs: How many there are.
        attributes: Of the node.
        constants: Values and datatypes of inputs that are constants; they follow those that are fed.
        constants_first: Whether they come before those instead.
        frames: To feed, (frames, *shape), one array for each input; random ones of the whole range by default.
    """

    op_type: str
    inputs: list
    attributes: dict
    outputs: int = 1
    constants: list = field(default_factory=list)
    domain: str = RTL
    frames: list = None
    constants_first: bool = False


def make_model(cases):
    """Return a model of all cases, none connected to another."""
    nodes, fed, given, constants, kinds = [], [], [], [], {}
    for at, case in enumerate(cases):
        names = [f"c{at}_in{i}" for i in range(len(case.inputs) + len(case.constants))]
        outputs = [f"c{at}_out{i}" for i in range(case.outputs)]
        fed_names, constant_names = names[: len(case.inputs)], names[len(case.inputs) :]
        ordered = constant_names + fed_names if case.constants_first else names
        node = helper.make_node(
            case.op_type, ordered, outputs, name=f"{case.op_type}_{at}", domain=case.domain, backend="fpgadataflow",
            **case.attributes,
        )  # fmt: skip
        nodes.append(node)
        for name, (shape, kind) in zip(fed_names, case.inputs, strict=True):
            fed.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
            kinds[name] = kind
        for name, (values, kind) in zip(constant_names, case.constants, strict=True):
            constants.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
            kinds[name] = kind
        layer = getCustomOp(node)
        for i, name in enumerate(outputs):
            shape = [int(size) for size in layer.get_normal_output_shape(i)]
            given.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
            kinds[name] = layer.get_output_datatype(i).name
    graph = helper.make_graph(nodes, "cases", fed, given, initializer=constants)
    domains = {"", *(case.domain for case in cases)}
    opsets = [helper.make_opsetid(name, 1 if name else 17) for name in sorted(domains)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets))
    for name, kind in kinds.items():
        model.set_tensor_datatype(name, DataType[kind])
    return model


def random_values(rng, kind, shape):
    """Return values of a datatype that are exact in a float32; the least and the greatest are among them if possible."""
    datatype = DataType[kind]
    if kind == "BIPOLAR":
        return 2 * rng.integers(0, 2, shape) - 1
    low, high = max(int(datatype.min()), -WHOLE), min(int(datatype.max()), WHOLE)
    values = rng.integers(low, high + 1, shape).reshape(-1)
    if values.size > 1:
        values[rng.choice(values.size, 2, replace=False)] = low, high
    return values.reshape(shape)


def golden_tensors(model, cases, count, seed):
    """Return (frames, *shape of one) by tensor: random inputs, and what the kernels compute of them in Python."""
    rng = np.random.default_rng(seed)
    tensors = {}
    for at, case in enumerate(cases):
        fed = case.frames or [random_values(rng, kind, (count, *shape)) for shape, kind in case.inputs]
        for i, values in enumerate(fed):
            tensors[f"c{at}_in{i}"] = np.asarray(values)
        node = model.graph.node[at]
        found = {name: [] for name in node.output}
        for frame in range(count):
            context = {name: model.get_initializer(name) for name in node.input}
            context |= {f"c{at}_in{i}": np.asarray(values[frame], np.float32) for i, values in enumerate(fed)}
            context |= {name: np.zeros(model.get_tensor_shape(name), np.float32) for name in node.output}
            getCustomOp(node).execute_node(context, model.graph)
            for name in node.output:
                found[name].append(context[name])
        for name, values in found.items():
            tensors[name] = np.stack(values)
    return tensors


def make_design(cases, folder):
    """Return the model and the design of all cases."""
    model = generate_layers(make_model(cases), folder, PART)
    return model, stitch(model)


def check_cores(cases, folder, cache, count=4, seed=0):
    """Assert that each case computes what its kernel computes, whatever stalls, and at the estimated rate."""
    model, design = make_design(cases, folder)
    golden = golden_tensors(model, cases, count, seed)
    checks = verify_layers(design, golden, seed=seed + 1, cache=cache)
    assert [str(check) for check in checks if not check.right] == []
    assert len(checks) == len(cases)
    assert intervals(design, golden, cache) == {layer.name: layer.cycles for layer in design.layers}


def intervals(design, golden, cache):
    """Return the cycles from frame to frame of each layer alone, which nothing holds back."""
    apart = take_apart(design)
    frames, words, counts = design_beats(apart, golden)
    result = build_simulator(plan_design(apart), cache=cache, quick=True).run(words, counts, judge=False)
    found = {}
    for link in apart.links:
        if link.source.layer in {layer.name for layer in design.layers} and link.layout is not None:
            spans = result.streams[link.target.stream].frames(frames)
            found[link.source.layer] = (spans[-1][1] - spans[1][1]) / (frames - 2)
    return found


def lint(backend, parameters):
    """Return what Verilator's lint says of a core, with all warnings and none waived."""
    tools = find_toolchain()
    sized = {name: f"{-(-value.bit_length() // 32) * 32}'d{value}" if isinstance(value, int) and value >> 31 > 0 else value
             for name, value in parameters.items()}  # fmt: skip
    stated = [
        f'-G{name}="{sized[name]}"' if isinstance(value, str) else f"-G{name}={sized[name]}"
        for name, value in parameters.items()
    ]
    files = [str(file) for file in backend.core_files()]
    done = subprocess.run(
        [tools.verilator, "--lint-only", "-Wall", "--no-timing", "--top-module", backend.core, *stated, *files],
        capture_output=True, text=True, check=False, env={**os.environ, "VERILATOR_ROOT": tools.root},
    )  # fmt: skip
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(line for line in lines if not line.startswith("- "))  # its own report of time and memory


def resources(cases, folder):
    """Return what Yosys needs for each case, and what its backend says that it needs, by the names of the nodes."""
    model, design = make_design(cases, folder)
    report = synthesise(design, PART)
    stated = {node.name: getCustomOp(node).core_resources() for node in model.graph.node}
    return {layer.name: (layer, stated[layer.name]) for layer in report.layers}
