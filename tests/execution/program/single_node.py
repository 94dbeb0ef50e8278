"""Models of one custom operation, and whether their programs give what the operation's own Python gives."""

import numpy as np
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy

QONNX = "qonnx.custom_op.general"
FINN = "finn.custom_op.fpgadataflow"


def one_node(op_type, inputs, outputs, constants=None, domain=QONNX, opset=1, datatypes=None, **attributes):
    """Return a model of one node; inputs and outputs are shapes by name, constants are inputs behind `inputs`."""
    constants = constants or {}
    names = [*inputs, *constants]
    node = helper.make_node(op_type, names, list(outputs), name="node", domain=domain, **attributes)
    values = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in given.items()]
        for given in (inputs, outputs)
    ]
    graph = helper.make_graph([node], "one", *values)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, opset)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=10))
    for name, value in constants.items():
        model.set_initializer(name, np.asarray(value))
    for name, datatype in (datatypes or {}).items():
        model.set_tensor_datatype(name, DataType[datatype])
    return model


def run_program(model, stacks):
    """Run a model's program, of which no instruction may be foreign."""
    program = lower(runnable_copy(model))
    assert not is_foreign(program)
    return program.run(stacks)


def is_foreign(program):
    """Tell whether a program leaves anything to the operation's own Python."""
    return any(made.function.startswith("foreign.") for made in program.instructions)


def run_reference(model, stacks):
    """Run QONNX's own execution, one sample after the other."""
    runs = len(next(iter(stacks.values())))
    singles = [execute_onnx(model, {name: s[at] for name, s in stacks.items()}) for at in range(runs)]
    return {value.name: np.stack([single[value.name] for single in singles]) for value in model.graph.output}


def assert_same_bits(given, wanted):
    """Compare values, NaN with NaN, and the signs of zeros."""
    assert given.dtype == wanted.dtype
    np.testing.assert_array_equal(given, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(given[numbers]), np.signbit(wanted[numbers]))


def assert_lowered_right(model, **stacks):
    """Assert that a model's program gives every bit of what QONNX's execution gives."""
    given = run_program(model, stacks)  # which imports what defines the operation
    with np.errstate(all="ignore"):
        wanted = run_reference(model, stacks)
    assert list(given) == list(wanted)
    for name, array in wanted.items():
        assert_same_bits(given[name], array)


def whole_numbers(random, low, high, shape):
    """Draw whole numbers, both ends among them if there is room."""
    values = random.integers(low, high, shape, endpoint=True).astype(np.float32)
    values.reshape(-1)[:2] = [low, high][: values.size]
    return values
