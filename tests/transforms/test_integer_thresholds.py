"""Thresholds of integers are rounded up, and refused where rounding decides the level of a value."""

import numpy as np
import pytest

from brainsmith.errors import ModelError
from brainsmith.transforms.integer_thresholds import IntegerThresholds
from tests.transforms.quantised_nets import CUSTOM, Net, every_integer, run


def model_of(rows, datatype="INT5"):
    net = Net(1, len(rows), datatype=datatype)
    return net.node("MultiThreshold", rows, domain=CUSTOM, out_dtype="UINT2").model()


def test_thresholds_between_integers_become_the_integer_above():
    model = model_of([[-2.5, 0.25, 3.75], [-40.0, 1.5, 99.0]])
    stack = every_integer(model)
    before = run(model, stack)
    changed = model.transform(IntegerThresholds())
    (node,) = changed.graph.node
    assert changed.get_initializer(node.input[1]).tolist() == [[-2, 1, 4], [-16, 2, 16]]
    assert changed.get_tensor_datatype(node.input[1]).name == "INT6"
    np.testing.assert_array_equal(run(changed, stack), before)


def test_a_threshold_at_an_integer_is_refused():
    with pytest.raises(ModelError) as caught:
        model_of([[0.5, 1.5, 2.5], [0.5, 2.0000002, 3.5]]).transform(IntegerThresholds())
    assert str(caught.value) == (
        "MultiThreshold 'multithreshold0': its threshold 1 of channel 1 is 2, so close to a whole number that rounding "
        "decides which level the value has. The scales before it are not known to have a common unit: quantise what goes "
        "into it with one scale, or give its quantiser a scale of its own in front"
    )


def test_thresholds_of_floats_stay():
    model = model_of([[0.5, 1.0, 2.5]], datatype="FLOAT32").transform(IntegerThresholds())
    assert model.get_initializer(model.graph.node[0].input[1]).tolist() == [[0.5, 1.0, 2.5]]
