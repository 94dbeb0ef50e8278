"""Models of one node, and their results by QONNX and by a program."""

import warnings

import numpy as np
import onnx
from onnx import helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy


def model_of(op_type, inputs, outputs=1, opset=13, domain="", datatypes=None, **attributes):
    """Return a model of one node.

    Args:
        inputs: By name: the shape of one that varies, (shape, dtype), a constant array, or None for one left out.
        datatypes: QONNX datatypes by tensor.
    """
    names = [name if value is not None else "" for name, value in inputs.items()]
    made = [f"y{at}" if at else "y" for at in range(outputs)]
    node = helper.make_node(op_type, names, made, name="n", domain=domain, **attributes)
    values, constants = [], []
    for name, value in inputs.items():
        if isinstance(value, np.ndarray):
            constants.append(numpy_helper.from_array(value, name))
        elif value is not None:
            shape, dtype = value if value and isinstance(value[0], tuple) else (value, np.float32)
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            values.append(helper.make_tensor_value_info(name, kind, shape))
    graph = helper.make_graph(
        [node], "one", values, [helper.make_empty_tensor_value_info(name) for name in made], constants
    )
    opsets = [helper.make_opsetid("", opset)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 1))
    proto = helper.make_model(graph, ir_version=9, opset_imports=opsets)
    inferred = onnx.shape_inference.infer_shapes(proto)
    found = {
        value.name: value
        for value in (*inferred.graph.value_info, *inferred.graph.output)
        if value.HasField("type")
    }
    del proto.graph.output[:]
    proto.graph.output.extend(found[name] for name in made)
    model = ModelWrapper(proto)
    for name, datatype in (datatypes or {}).items():
        model.set_tensor_datatype(name, DataType[datatype])
    return model


def program_of(model, faithful=False):
    return lower(runnable_copy(model), faithful)


def functions(program):
    """Return the instructions of a program, without the checks."""
    return [i.function for i in program.instructions if not i.function.startswith("datatype_checks.")]


def expected(model, stacks):
    """Return what QONNX computes, sample by sample."""
    runnable = runnable_copy(model)
    samples = len(next(iter(stacks.values())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = [execute_onnx(runnable, {n: s[at] for n, s in stacks.items()}) for at in range(samples)]
    return {name: np.stack([run[name] for run in runs]) for name in runs[0]}


def stacks_of(model, samples=3, seed=0, low=-8, high=8):
    """Return whole numbers for each input."""
    generator = np.random.default_rng(seed)
    program = program_of(model)
    return {
        spec.name: generator.integers(low, high, (samples, *spec.shape), endpoint=True).astype(spec.dtype)
        for spec in program.signature.inputs
    }


def floats_of(model, samples=3, seed=0):
    """Return normal floats for each input."""
    generator = np.random.default_rng(seed)
    return {
        spec.name: generator.normal(size=(samples, *spec.shape)).astype(spec.dtype)
        for spec in program_of(model).signature.inputs
    }
