"""Beats of neighbours divide each other where that costs nothing."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.rtl.cores.parallelism import divisors
from brainsmith.steps.dividing_widths import prefer_dividing_widths
from tests.backends.rtl.bench import PART


def chain(sizes, foldings, kind="INT4"):
    """Return matrix-vector layers one after the other, of so many inputs each, folded as stated (SIMD, PE)."""
    nodes = [
        helper.make_node(
            "MVAU_rtl", [f"x{at}", f"w{at}"], [f"x{at + 1}"], domain="finn.custom_op.fpgadataflow.rtl",
            backend="fpgadataflow", MW=before, MH=after, SIMD=simd, PE=pe, inputDataType=kind, weightDataType=kind,
            outputDataType=kind, noActivation=1, numInputVectors=[1],
        )
        for at, (before, after, (simd, pe)) in enumerate(zip(sizes, sizes[1:], foldings, strict=False))
    ]  # fmt: skip
    model = ModelWrapper(helper.make_model(helper.make_graph(nodes, "chain", [], [])))
    for at, size in enumerate(sizes):
        model.set_tensor_shape(f"x{at}", [1, size], TensorProto.FLOAT)
        model.set_tensor_datatype(f"x{at}", DataType[kind])
    return model


def folded(model):
    layers = [getCustomOp(node) for node in model.graph.node]
    return [(layer.get_nodeattr("SIMD"), layer.get_nodeattr("PE")) for layer in layers]


def uneven(model):
    """Return how many pairs of neighbours have beats of which neither is a multiple of the other."""
    pairs = pairwise(folded(model))
    return sum(max(pe, simd) % min(pe, simd) != 0 for (_, pe), (simd, _) in pairs)


def test_a_layer_takes_beats_that_its_neighbour_gives():
    model = chain([12, 12, 12], [(2, 4), (6, 2)])
    prefer_dividing_widths(model, 1000, PART, 36)
    assert uneven(model) == 0
    assert folded(model) == [(2, 3), (6, 2)]  # (4, 2) would need twice the DSPs


def test_a_layer_stays_as_it_is_where_another_folding_is_too_slow():
    model = chain([12, 2, 3], [(4, 2), (1, 1)])
    prefer_dividing_widths(model, 1, PART, 36)
    assert folded(model) == [(4, 2), (1, 1)]


@st.composite
def chains(draw):
    sizes = draw(st.lists(st.sampled_from([6, 8, 9, 12, 18, 20, 36, 64]), min_size=3, max_size=5))
    return chain(
        sizes,
        [
            (draw(st.sampled_from(divisors(before)[:-1])), draw(st.sampled_from(divisors(after))))
            for before, after in pairwise(sizes)
        ],
        draw(st.sampled_from(["INT2", "INT4", "INT8"])),
    )


@given(chains(), st.integers(1, 2000))
def test_never_larger_nor_slower_than_needed(model, cycles):
    before = [getCustomOp(node) for node in chain_copy(model).graph.node]
    less_even = uneven(model)
    prefer_dividing_widths(model, cycles, PART, 36)
    for was, node in zip(before, model.graph.node, strict=True):
        layer = getCustomOp(node)
        simd, pe = layer.get_nodeattr("SIMD"), layer.get_nodeattr("PE")
        assert layer.get_exp_cycles() <= max(cycles, was.get_exp_cycles())
        assert layer.dsp_estimation(PART) <= was.dsp_estimation(PART)
        assert simd * pe <= was.get_nodeattr("SIMD") * was.get_nodeattr("PE")
        assert layer.get_nodeattr("MW") % simd == layer.get_nodeattr("MH") % pe == 0
        assert simd < layer.get_nodeattr("MW")
    assert uneven(model) <= less_even


def chain_copy(model):
    return ModelWrapper(model.model, make_deepcopy=True)
