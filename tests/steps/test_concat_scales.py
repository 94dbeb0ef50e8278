"""Scales in front of a Concat, whatever form their constants have."""

from itertools import product

import numpy as np
import pytest
from onnx import helper

from brainsmith.plugins import transforms as tfm
from brainsmith.steps.concat_scales import ChannelwiseBeforeConcat
from brainsmith.testing.small_models import make_model, op_types, run

FORMS = {"number": (), "one": (1,), "channels": (3,), "all axes": (1, 3), "one of all axes": (1, 1)}


@pytest.mark.slow
@pytest.mark.parametrize("op_type", ["Mul", "Add"])
@pytest.mark.parametrize(("first", "second"), list(product(FORMS, repeat=2)))
def test_finn_moves_them_past_it(op_type, first, second):
    constants = {
        name: np.random.default_rng(seed).integers(1, 9, FORMS[form]).astype(np.float32)
        for seed, (name, form) in enumerate((("a", first), ("b", second)))
    }
    nodes = [
        helper.make_node(op_type, ["x", "a"], ["s"]),
        helper.make_node(op_type, ["z", "b"], ["t"]),
        helper.make_node("Concat", ["s", "t"], ["y"], axis=-1),
    ]
    model = make_model(nodes, {"x": (2, 3), "z": (2, 3)}, ["y"], constants)
    feeds = {"x": np.float32([[1, 2, 3], [4, 5, 6]]), "z": np.float32([[7, 8, 9], [1, 2, 3]])}
    after = model.transform(ChannelwiseBeforeConcat())
    np.testing.assert_array_equal(run(after, feeds)["y"], run(model, feeds)["y"])
    after = after.transform(tfm.finn.MoveAffinePastJoinConcat())
    assert op_types(after) == ["Concat", op_type]
    np.testing.assert_array_equal(run(after, feeds)["y"], run(model, feeds)["y"])


def test_what_is_no_scale_stays():
    nodes = [
        helper.make_node("Mul", ["x", "z"], ["s"]),
        helper.make_node("Mul", ["z", "b"], ["t"]),
        helper.make_node("Concat", ["s", "t"], ["y"], axis=1),
    ]
    model = make_model(nodes, {"x": (2, 3), "z": (2, 3)}, ["y"], {"b": np.float32([1, 2, 3])})
    before = model.model.SerializeToString()
    assert ChannelwiseBeforeConcat().apply(model)[0].model.SerializeToString() == before
