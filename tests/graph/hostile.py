"""Models that somebody made to stop or to run whoever opens them, and what is said of each."""

import numpy as np
from onnx import helper, numpy_helper

from tests.build import graphs

MODULE = "beside_the_model"
"""A module that lies beside the model, and says that it was imported."""
KINDS = "INT4, UINT8, BINARY, BIPOLAR, TERNARY, FIXED<8,4>, SCALEDINT<8>, FLOAT16, FLOAT32 or FLOAT<5,2>"


def good():
    return graphs.quant_mlp().model


def with_datatype(text):
    made = good()
    annotation = made.graph.quantization_annotation.add(tensor_name="act0")
    annotation.quant_parameter_tensor_names.add(key="finn_datatype", value=text)
    return made


def with_bits(value, as_node=False):
    made = good()
    node = next(node for node in made.graph.node if node.op_type == "Quant")
    at = next(at for at, tensor in enumerate(made.graph.initializer) if tensor.name == node.input[3])
    tensor = numpy_helper.from_array(np.array(value, np.float32), node.input[3])
    if as_node:
        del made.graph.initializer[at]
        made.graph.node.insert(0, helper.make_node("Constant", [], [node.input[3]], value=tensor))
    else:
        made.graph.initializer[at].CopyFrom(tensor)
    return made


def with_input(shape):
    made = good()
    made.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", 1, shape))
    return made


def with_constant(shape):
    made = good()
    made.graph.initializer[0].dims[:] = shape
    return made


def with_data_type(number):
    made = good()
    made.graph.initializer[0].data_type = number
    return made


def with_growth(op_type, numbers, **attributes):
    made = good()
    made.graph.initializer.append(numpy_helper.from_array(np.array(numbers, np.int64), "sizes"))
    inputs = {"ConstantOfShape": ["sizes"], "Tile": ["x", "sizes"]}.get(op_type, ["x"])
    made.graph.node.append(helper.make_node(op_type, inputs, ["grown"], name="grow", **attributes))
    return made


def with_window(op_type, domain="", **attributes):
    made = good()
    node = helper.make_node(op_type, ["x", "x"], ["window"], name="window", domain=domain, **attributes)
    made.graph.node.append(node)
    return made


def with_operands(count):
    made = good()
    node = next(node for node in made.graph.node if node.op_type == "Quant")
    del node.input[count:]
    return made


def with_no_operand():
    made = good()
    del made.graph.node[-1].input[:]
    return made


def with_functions(**calls):
    """Add functions, each of which calls those that are stated, the first of them in a branch."""
    made = good()
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    for name, called in calls.items():
        nodes = [helper.make_node(other, ["a"], ["b"], domain="ai.onnx.ml") for other in called]
        branch = helper.make_graph(nodes[:1], "branch", [], [helper.make_tensor_value_info("b", 1, None)])
        chosen = helper.make_node("If", ["a"], ["c"], then_branch=branch, else_branch=branch)
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)]
        made.functions.append(
            helper.make_function("ai.onnx.ml", name, ["a"], ["b"], [chosen, *nodes[1:]], opsets)
        )
    return made


def with_calls_of(levels, times):
    """Add functions, each of which calls the one before it so many times, and a node that calls the last one."""
    made = with_functions(F0=[])
    opsets = list(made.functions[0].opset_import)
    for level in range(1, levels):
        names = ["a", *(f"t{at}" for at in range(1, times)), "b"]
        nodes = [
            helper.make_node(f"F{level - 1}", [names[at]], [names[at + 1]], domain="ai.onnx.ml")
            for at in range(times)
        ]
        made.functions.append(helper.make_function("ai.onnx.ml", f"F{level}", ["a"], ["b"], nodes, opsets))
    last = made.graph.node[-1]
    call = helper.make_node(f"F{levels - 1}", ["before"], [last.output[0]], "call", domain="ai.onnx.ml")
    last.output[0] = "before"
    made.graph.node.append(call)
    return made


def with_computed_bits(name, power):
    """Let nodes compute a number of bits of constants: 10 to a power, and no more."""
    made = good()
    (bits,) = (tensor for tensor in made.graph.initializer if tensor.name == name)
    bits.name = "ten"
    bits.CopyFrom(numpy_helper.from_array(np.float32(10), "ten"))
    value = numpy_helper.from_array(np.float32(power), "value")
    made.graph.node.insert(0, helper.make_node("Pow", ["ten", "power"], ["computed"]))
    made.graph.node.insert(0, helper.make_node("Constant", [], ["power"], value=value))
    made.graph.node.insert(2, helper.make_node("Max", ["computed", "ten"], [name]))
    return made


def with_cycle():
    made = good()
    made.graph.node[-1].input[0] = made.graph.node[-1].output[0]
    return made


def with_listed_twice(field):
    made = good()
    entries = getattr(made.graph, field)
    entries.append(entries[0])
    return made


def with_output(name):
    made = good()
    value = next(value for value in (*made.graph.input, *made.graph.value_info) if value.name == name)
    made.graph.output.append(value)
    return made


def with_declared(shape, element_type=1):
    made = good()
    made.graph.value_info.append(helper.make_tensor_value_info("x", element_type, shape))
    return made


def with_datatypes(*texts):
    made = good()
    for text in texts:
        annotation = made.graph.quantization_annotation.add(tensor_name="act0")
        annotation.quant_parameter_tensor_names.add(key="finn_datatype", value=text)
    return made


def with_domain(domain):
    made = good()
    made.graph.node[-1].domain = domain
    return made


MODELS = {
    "bits of a datatype": lambda: with_datatype("INT1000000000"),
    "digits of a datatype": lambda: with_datatype("UINT" + "9" * 100_000),
    "unknown datatype": lambda: with_datatype("HALFINT"),
    "empty datatype": lambda: with_datatype(""),
    "exponent of a datatype": lambda: with_datatype("FLOAT<64,2>"),
    "fixed point": lambda: with_datatype("FIXED<8,8>"),
    "bit width": lambda: with_bits(1e30),
    "bit width that is none": lambda: with_bits(float("nan"), as_node=True),
    "huge dimension": lambda: with_input([1, 10**12]),
    "overflowing dimensions": lambda: with_input([2**62, 2**62]),
    "negative dimension": lambda: with_input([1, -6]),
    "many dimensions": lambda: with_input([1] * 65),
    "constant without its data": lambda: with_constant([10**12]),
    "constant of no type": lambda: with_data_type(99),
    "constant of a huge shape": lambda: with_growth("ConstantOfShape", [10**6, 10**6]),
    "huge repetition": lambda: with_growth("Tile", [1, 10**12]),
    "huge padding": lambda: with_growth("AveragePool", [1], kernel_shape=[1], pads=[0, 10**12]),
    "input listed twice": lambda: with_listed_twice("input"),
    "output listed twice": lambda: with_listed_twice("output"),
    "constant listed twice": lambda: with_listed_twice("initializer"),
    "output that is the input": lambda: with_output("x"),
    "two shapes of a tensor": lambda: with_declared([1, 7]),
    "two ranks of a tensor": lambda: with_declared([1, "n", 1]),
    "two element types of a tensor": lambda: with_declared(None, 7),
    "two datatypes of a tensor": lambda: with_datatypes("INT4", "INT5"),
    "stride of nothing": lambda: with_window("Conv", kernel_shape=[1, 1], strides=[1, 0]),
    "negative groups": lambda: with_window("Conv", kernel_shape=[1, 1], group=-1),
    "pool of nothing": lambda: with_window("QuantAvgPool2d", "qonnx.custom_op.general", kernel=0, stride=1),
    "quantiser without a zero point": lambda: with_operands(2),
    "product of nothing": with_no_operand,
    "cycle": with_cycle,
    "function that calls itself": lambda: with_functions(F=["F"]),
    "bit width that nodes compute": lambda: with_computed_bits("act0_b", 18),
    "bit width of weights that nodes compute": lambda: with_computed_bits("weight1_b", 18),
    "infinite bit width that nodes compute": lambda: with_computed_bits("weight1_b", 1e9),
    "functions that double": lambda: with_calls_of(40, 2),
    "functions within each other": lambda: with_calls_of(502, 1),
    "functions that call each other": lambda: with_functions(A=["C", "B"], B=["C", "D"], C=[], D=["C", "B"]),
    "module beside the model": lambda: with_domain(MODULE),
}
RUNS_CODE = ("module beside the model",)
"""Those that whoever trusts their maker may open."""
FAULTS = {
    "bits of a datatype": (
        "tensor 'act0' has finn_datatype = 'INT1000000000', which has 1000000000 bits, and there can be 1 to 64"
    ),
    "digits of a datatype": (
        "tensor 'act0' has finn_datatype = 'UINT99999999999999999999999999999999999... (100,006 characters), which has "
        "9999999999999999999999999999999999999999... (100,000 characters) bits, and there can be 1 to 64"
    ),
    "unknown datatype": f"tensor 'act0' has finn_datatype = 'HALFINT', which is not a datatype; examples are {KINDS}",
    "empty datatype": f"tensor 'act0' has finn_datatype = '', which is empty: a datatype is such as {KINDS}",
    "exponent of a datatype": (
        "tensor 'act0' has finn_datatype = 'FLOAT<64,2>', whose exponent has 64 bits, and there can be up to 11"
    ),
    "fixed point": (
        "tensor 'act0' has finn_datatype = 'FIXED<8,8>', which has 8 bits before the point, and there can be -64 to 7 "
        "of its 8"
    ),
    "bit width": "node 'act0' (Quant) has 1e+30 bits (its input 'act0_b'), and there can be up to 64",
    "bit width that nodes compute": "node 'act0' (Quant) has 1e+18 bits (its input 'act0_b'), and there can be up to 64",
    "bit width of weights that nodes compute": (
        "node 'weight1' (Quant) has 1e+18 bits (its input 'weight1_b'), and there can be up to 64"
    ),
    "infinite bit width that nodes compute": (
        "node 'weight1' (Quant) has inf bits (its input 'weight1_b'), and there can be up to 64"
    ),
    "bit width that is none": "node 'act0' (Quant) has nan bits (its input 'act0_b'), and there can be up to 64",
    "huge dimension": "tensor 'x' has the shape [1, 1000000000000], which is more than 268,435,456 elements",
    "overflowing dimensions": (
        "tensor 'x' has the shape [4611686018427387904, 4611686018427387904], which is more than 268,435,456 elements"
    ),
    "negative dimension": "tensor 'x' has the shape [1, -6], and a dimension cannot be negative",
    "many dimensions": "tensor 'x' has 65 dimensions, and there can be up to 64",
    "constant without its data": "constant 'act0_s' has the shape [1000000000000], and its data have 1 element",
    "constant of no type": "constant 'act0_s' has the data type 99, and ONNX knows none of that number",
    "constant of a huge shape": (
        "node 'grow' (ConstantOfShape) makes a tensor of more than 268,435,456 elements: [1000000, 1000000]"
    ),
    "huge repetition": "node 'grow' (Tile) makes a tensor of more than 268,435,456 elements: [1, 1000000000000]",
    "huge padding": "node 'grow' (AveragePool) makes a tensor of more than 268,435,456 elements: [0, 1000000000000]",
    "stride of nothing": "node 'window' (Conv) has strides = [1, 0], and the least is 1",
    "negative groups": "node 'window' (Conv) has group = -1, and the least is 1",
    "pool of nothing": "node 'window' (QuantAvgPool2d) has kernel = 0, and the least is 1",
    "quantiser without a zero point": "node 'act0' (Quant) has 2 inputs, and Quant has at least 4",
    "product of nothing": "node 'matmul1' (MatMul) has 0 inputs, and MatMul has at least 2",
    "input listed twice": "the input 'x' is listed twice. Export the model again.",
    "output listed twice": "the output 'm1' is listed twice. Export the model again.",
    "constant listed twice": "the constant 'act0_s' is listed twice. Export the model again.",
    "output that is the input": (
        "the output 'x' is an input, too, of which a node must make a copy (Identity). Export the model again."
    ),
    "two shapes of a tensor": "tensor 'x' is declared with two shapes, [1, 6] and [1, 7]. Export the model again.",
    "two ranks of a tensor": "tensor 'x' is declared with two shapes, [1, 6] and [1, n, 1]. Export the model again.",
    "two element types of a tensor": "tensor 'x' is declared with two element types. Export the model again.",
    "two datatypes of a tensor": (
        "tensor 'act0' is annotated with finn_datatype = 'INT4' and 'INT5'. Export the model again."
    ),
    "cycle": ("it has a cycle: node 'matmul1' (MatMul) -> node 'matmul1' (MatMul). Export the model again."),
    "functions that double": (
        "node 'call' (F39) calls function 'F39', with which the model has more than 100,000 nodes. Export the model again."
    ),
    "functions within each other": (
        "node 'call' (F501) calls more than 500 functions within each other. Export the model again."
    ),
    "function that calls itself": "it has a cycle: function 'F' -> function 'F'. Export the model again.",
    "functions that call each other": (
        "it has a cycle: function 'B' -> function 'D' -> function 'B'. Export the model again."
    ),
    "module beside the model": (
        f"node 'matmul1' (MatMul) is of domain '{MODULE}', for which QONNX would import the module '{MODULE}', "
        "which is not a domain of QONNX, FINN, BrainSmith or a plugin that is found here. If you trust the module, import "
        "it first, or make its operators plugins (`brainsmith plugins list` shows what is found); else remove the node"
    ),
}
