"""Ops by name: which names there can be."""

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.errors import PluginDefinitionError
from brainsmith.plugin.core import op


def test_the_name_of_fused_nodes_is_no_op_s():
    built = ops.CustomOpBuilder("fused_elementwise", 1).forward(lambda inputs: inputs[0] + 7).build()
    said = "name= of @op cannot be 'fused_elementwise': nodes of this type hold an expression; take another name$"
    with pytest.raises(PluginDefinitionError, match=said):
        ops.register_custom_op(built)
    with pytest.raises(PluginDefinitionError, match=said):
        op(num_inputs=1)(type("fused_elementwise", (ops.Op,), {"forward": lambda self, x: np.abs(x)}))
    assert "fused_elementwise" not in ops.list_custom_ops()
