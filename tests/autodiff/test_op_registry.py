"""Ops by name: which names there can be."""

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.errors import DuplicatePluginError, OpError, PluginDefinitionError
from brainsmith.plugin.core import op


def test_the_name_of_fused_nodes_is_no_op_s():
    built = ops.CustomOpBuilder("fused_elementwise", 1).forward(lambda inputs: inputs[0] + 7).build()
    said = "name= of @op cannot be 'fused_elementwise': BrainSmith's own fused nodes have this type; choose another name$"
    with pytest.raises(PluginDefinitionError, match=said):
        ops.register_custom_op(built)
    with pytest.raises(PluginDefinitionError, match=said):
        op(num_inputs=1)(type("fused_elementwise", (ops.Op,), {"forward": lambda self, x: np.abs(x)}))
    assert "fused_elementwise" not in ops.list_custom_ops()


def test_what_the_decorator_states_of_the_inputs_wins():
    @op(name="sum_of_two", num_inputs=2)
    class SumOfTwo(ops.Op):
        def forward(self, a, b):
            return a + b

    try:
        assert ops.get_custom_op("sum_of_two").num_inputs == 2
        assert ops.execute_custom_op("sum_of_two", [[1.0], [2.0]]).tolist() == [3.0]
    finally:
        ops.unregister_custom_op("sum_of_two")


@pytest.mark.parametrize("name", [3, ["gelu"], None], ids=str)
def test_a_name_is_a_text(name):
    for call in (ops.get_custom_op, lambda given: ops.execute_custom_op(given, [1.0])):
        with pytest.raises(OpError) as caught:
            call(name)
        assert str(caught.value) == f"an op is looked up by its name, a string, not by {name!r}"


def test_a_name_that_another_framework_has_names_both():
    before = ops.list_custom_ops()
    mine = ops.CustomOpBuilder("int_quant", 1).forward(lambda inputs: inputs[0]).build()
    with pytest.raises(DuplicatePluginError) as caught:
        ops.register_custom_op(mine)
    first, theirs, ours = str(caught.value).splitlines()
    assert first == "the op 'int_quant' exists already:"
    assert theirs.startswith("  brainsmith:int_quant at ")
    assert "int_quant.py:" in theirs
    assert ours.startswith(f"  project:int_quant at {__file__}:")
    assert ops.list_custom_ops() == before
