"""Of what looks alike, what had a datatype before is what lost it."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.build.lost_datatypes import lost_ends, lost_without_rule
from brainsmith.build.tensor_facts import TensorFacts, following


def model(datatypes, outputs=("first", "second"), constants=()):
    """Return a graph of alike nodes without a rule, with datatypes by tensor."""
    nodes = [helper.make_node("Opaque", ["x"], [name], domain="acme") for name in outputs]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", *outputs)]
    tensors = [numpy_helper.from_array(np.ones(3, np.float32), name) for name in constants]
    found = ModelWrapper(helper.make_model(helper.make_graph(nodes, "test", ends[:1], ends[1:], tensors)))
    for name, datatype in datatypes.items():
        found.set_tensor_datatype(name, DataType[datatype])
    return found


def facts(*arguments, **more):
    return TensorFacts(model(*arguments, **more).graph)


def test_of_alike_nodes_the_one_that_had_a_datatype_lost_it():
    after = facts({})
    for name in ("first", "second"):
        found = lost_without_rule(after.nodes, facts({name: "INT4"}), after)
        assert found == {name: "INT4"}


def test_of_alike_nodes_the_one_without_a_datatype_stays_alone_and_lost_nothing():
    after = facts({}, outputs=("second",))
    assert lost_without_rule(after.nodes, facts({"first": "INT4"}), after) == {}


def test_of_equal_constants_the_one_that_had_a_datatype_lost_it():
    constants = ("a", "b")
    for name in constants:
        found = lost_ends(facts({name: "INT2"}, constants=constants), facts({}, constants=constants))
        assert found == {name: "INT2"}


def test_equal_constants_keep_datatypes_of_their_own():
    before = facts({"a": "INT2", "b": "INT4"}, constants=("a", "b"))
    assert lost_ends(before, facts({"a": "INT2"}, constants=("a", "b"))) == {"b": "INT4"}
    assert lost_ends(before, facts({"c": "INT2"}, constants=("c", "d"))) == {"d": "INT4"}
    assert lost_ends(before, facts({"d": "INT4"}, constants=("c", "d"))) == {"c": "INT2"}
    assert lost_ends(before, facts({}, constants=("c", "d"))) == {"c": "INT2", "d": "INT4"}


def test_what_follows_is_not_taken_for_what_is_stated():
    graph = model({"x": "INT4"}, outputs=())
    graph.graph.node.append(helper.make_node("Identity", ["x"], ["y"]))
    known = TensorFacts(graph.graph)
    found, floats = following(graph, known)
    assert (found, floats) == ({"y": "INT4"}, [])
    assert (known.stated, known.datatypes) == ({"x": "INT4"}, {"x": "INT4", "y": "INT4"})
