import re

import numpy as np
import pytest
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.build.baseline import Baseline
from brainsmith.build.float_tie_check import FloatTieCheck, TieVerdict
from brainsmith.build.golden import GoldenData
from brainsmith.build.verifier import Verifier
from brainsmith.comparison.float_ties.float_network import FloatNetwork
from brainsmith.comparison.float_ties.tie_search import TieSearch
from brainsmith.errors import VerificationError
from brainsmith.execution.execute import Executor
from brainsmith.transforms.integer_layers import IntegerLayers
from brainsmith.web.step_result import FloatTies, Verified, verified_text
from brainsmith.web.verdict import describe
from tests.comparison.float_ties.tie_networks import (
    WEIGHTS,
    one_layer,
    quantiser,
    samples,
    two_layers,
    wrapped,
)
from tests.hunt.writer import Writer


def no_parent():
    return None


def verifier(model, stack, **options):
    return Verifier(model, GoldenData(stack, **options), {})


def layers(model):
    return model.transform(IntegerLayers())


def changed(model, op_type, at, change):
    """Return integer layers with another operand of one node."""
    copy = ModelWrapper(model.model, make_deepcopy=True)
    node = [each for each in copy.graph.node if each.op_type == op_type][at]
    operand = copy.get_initializer(node.input[1]).copy()
    change(operand)
    copy.set_initializer(node.input[1], operand)
    for name in (node.input[1], *([] if op_type == "MultiThreshold" else node.output)):
        copy.set_tensor_datatype(name, DataType["INT16"])
    return copy


def more(place, by=1):
    def change(operand):
        operand[place] += by

    return change


def test_float_ties_are_counted_and_later_steps_give_the_bits_of_the_integer_layers():
    model, stack = two_layers(0.7, 1.4), samples()[::4]
    verification, made = verifier(model, stack), layers(model)
    found = verification.check("integer", made, no_parent)
    assert (found.samples, found.mismatches, found.reference) == (len(stack), 0, "")
    ties = found.float_ties
    assert 0 < ties.samples <= ties.ties
    assert ties.values == 4 * 48  # the samples that differ, and 32 that are compared inside in any case
    assert 0 < ties.distance <= ties.bound < 1e-4
    again = verification.check("later", ModelWrapper(made.model, make_deepcopy=True), no_parent)
    assert (again.max_error, again.reference, again.float_ties) == (0.0, "integer", None)


def test_a_later_step_is_not_excused_by_a_tie():
    model, stack = two_layers(0.7, 1.4), samples()[::4]
    verification, made = verifier(model, stack), layers(model)
    verification.check("integer", made, no_parent)
    with pytest.raises(VerificationError, match="step 'later' changed what the model computes"):
        verification.check("later", model, no_parent)  # the network itself, on the other side of its ties


def test_where_floats_are_exact_the_network_stays_the_reference():
    model, stack = two_layers(0.5, 1.0), samples()
    verification, made = verifier(model, stack), layers(model)
    assert verification.check("integer", made, no_parent).float_ties is None
    assert verification.check("later", made, no_parent).reference == ""


def ending_in_softmax():
    """Return a network of exact floats, whose classes are as good as certain: a wrong level moves an output by 1e-6."""
    model = two_layers(0.5, 1.0)
    last = model.graph.output[0].name
    far = helper.make_tensor("far", 1, [1, 2], [16.0, 0.0])
    model.graph.initializer.append(far)
    model.graph.node.append(helper.make_node("Add", [last, "far"], ["apart"]))
    model.graph.node.append(helper.make_node("Softmax", ["apart"], ["chances"], axis=-1))
    model.graph.output[0].name = "chances"
    return model


def test_a_softmax_behind_the_last_layer_hides_no_wrong_level_of_later_steps():
    model, stack = ending_in_softmax(), samples()[::4]
    verification, made = verifier(model, stack), layers(model)
    verification.check("integer", made, no_parent)
    assert verification.check("same", made, no_parent).reference == "integer"
    broken = changed(made, "MultiThreshold", 1, more((1, 3)))
    with pytest.raises(VerificationError, match="tolerance 0"):
        verification.check("later", broken, no_parent)


@pytest.mark.parametrize(("scale", "level"), [(0.5, 1.0), (0.7, 1.4)])
def test_the_note_of_levels_says_nothing_of_what_later_steps_make(scale, level):
    model, stack = two_layers(scale, level), samples()[::8]
    verification, made = verifier(model, stack), layers(model)
    verification.check("integer", made, no_parent)
    later = ModelWrapper(made.model, make_deepcopy=True)
    first = later.get_nodes_by_op_type("MultiThreshold")[0]
    name = first.output[0]
    bits = next(each for each in first.attribute if each.name == "out_bias")
    bits.f += 3  # the same tensor, 3 more
    later.set_tensor_datatype(name, DataType["INT8"])
    next(each for each in first.attribute if each.name == "out_dtype").s = b"INT8"
    reader = next(node for node in later.graph.node if name in node.input)
    three = helper.make_tensor("three", 1, [1], [3.0])
    later.graph.initializer.append(three)
    later.graph.node.insert(
        list(later.graph.node).index(reader), helper.make_node("Sub", [name, "three"], ["back"])
    )
    reader.input[0] = "back"
    assert verification.check("later", later, no_parent).max_error == 0.0


DEFECTS = {
    "a threshold moved by one": lambda model: changed(layers(model), "MultiThreshold", 0, more((0, 4))),
    "a threshold of the last layer": lambda model: changed(layers(model), "MultiThreshold", 1, more((1, 3))),
    "a weight off by one": lambda model: changed(layers(model), "MatMul", 0, more((2, 1))),
    "a weight of the last layer": lambda model: changed(layers(model), "MatMul", 1, more((0, 0))),
    "another zero point": lambda _: layers(two_layers(0.7, 1.4, zero=1.0)),
    "the other sign": lambda _: layers(two_layers(0.7, 1.4, sign=-1.0)),
    "another rounding mode": lambda _: layers(two_layers(0.7, 1.4, mode="FLOOR")),
    "a scale a little off": lambda _: layers(two_layers(0.7, 1.4 * (1 + 1e-3))),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_beside_float_ties_is_found(defect):
    model = two_layers(0.7, 1.4)
    verification, broken = verifier(model, samples()), DEFECTS[defect](model)
    with pytest.raises(VerificationError) as caught:
        verification.check("integer", broken, no_parent)
    text = str(caught.value)
    assert text.startswith("step 'integer' changed what the model computes: ")
    assert re.search(
        r"Float ties do not explain it: in run \d+, (element \[0, \d\]|output \d) of 't\d' is -?[\d.]+, ",
        text,
    )


@pytest.mark.parametrize("mode", ["HALF_UP", "HALF_DOWN"])
def test_another_side_of_exact_ties_is_a_defect(mode):
    model = two_layers(0.5, 1.0)
    with pytest.raises(VerificationError, match="changed what the model computes"):
        verifier(model, samples()).check("integer", layers(two_layers(0.5, 1.0, mode=mode)), no_parent)


def test_a_defect_that_no_output_shows_is_found_inside():
    model = two_layers(0.5, 1.0)
    stack = np.zeros((1, 1, 3), np.float32)
    broken = layers(model)
    node = broken.get_nodes_by_op_type("MultiThreshold")[0]
    thresholds = broken.get_initializer(node.input[1]).copy()
    thresholds[0] = np.concatenate([thresholds[0, :7], np.full(thresholds.shape[1] - 7, -1.0)])
    thresholds[0].sort()
    broken.set_initializer(node.input[1], thresholds)
    last = broken.get_nodes_by_op_type("MatMul")[1]
    made = changed(broken, "MatMul", 1, lambda weights: weights.fill(0))
    assert last.op_type == "MatMul"
    with pytest.raises(VerificationError) as caught:
        verifier(model, stack).check("integer", made, no_parent)
    assert str(caught.value).startswith(
        "step 'integer' changed what the model computes, though not its outputs: in run 0, element [0, 0] of 't3' is 7, "
        "and 0 in the network; "
    )


def test_class_numbers_may_change_where_rounding_decides_them():
    model, stack = two_layers(0.7, 1.4, logits=True), samples()
    verification = verifier(model, stack, labels=np.zeros(len(stack), int))
    assert verification.check("integer", layers(model), no_parent).float_ties.ties > 0


TIES = FloatTies(2, 3, 8192, 1e-7, 4.5e-7)


def test_ties_are_told_in_words_and_kept_in_the_report():
    found = Verified(32, float_ties=TIES)
    assert verified_text(found) == "32 samples; 3 of 8,192 values are float ties (bound 4.5e-07 of a step)"
    assert str(FloatTies(1, 1, 8, None, None)) == "1 of 8 values is a float tie"
    assert str(FloatTies(2, 0, 8, 0.0, 0.0)) == "2 samples differ by rounding alone"
    assert TIES + FloatTies(1, 1, 10, 2e-7, 3e-7) == FloatTies(3, 4, 8202, 2e-7, 4.5e-7)
    plain = found.to_plain()
    assert plain["float_ties"] == {"samples": 2, "ties": 3, "values": 8192, "distance": 1e-7, "bound": 4.5e-7}
    assert Verified.from_plain(plain).float_ties == TIES
    assert Verified.from_plain(Verified(32).to_plain()).float_ties is None


def test_the_page_and_the_summary_say_how_many_ties_there_are():
    from brainsmith.build.report import _float_ties
    from brainsmith.web.step_result import StepResult

    step = StepResult("integer", "brainsmith", 1.0, False, "", Verified(32, float_ties=TIES))
    assert describe(step) == (
        "32 samples equal but for float ties: 3 of 8,192 values are float ties (bound 4.5e-07 of a step)"
    )
    assert _float_ties([step.to_plain()]) == [
        "integer: 3 of 8,192 values are float ties (bound 4.5e-07 of a step), in 2 samples"
    ]


def reordered(scale=0.7, level=1.4, weights=WEIGHTS):
    """Return a network that adds its products in another order, without integer layers."""
    writer = Writer()
    rows = [
        quantiser(writer, writer.constant(weights[at : at + 1] * scale), (1, 2), scale, 4.0)
        for at in range(3)
    ]
    parts = writer.split("Split", ["x", writer.constant([1, 1, 1], np.int64)], [(1, 1)] * 3, axis=1)
    products = [
        writer.node("MatMul", [part.name, row.name], (1, 2)) for part, row in zip(parts, rows, strict=True)
    ]
    right = writer.node("Add", [products[1].name, products[2].name], (1, 2))
    total = writer.node("Add", [products[0].name, right.name], (1, 2))
    return wrapped(writer, [quantiser(writer, total.name, (1, 2), level, 4.0)])


def test_a_step_without_integer_layers_is_explained_by_its_outputs():
    stack = samples()
    verification = verifier(one_layer(0.7, 1.4), stack)
    found = verification.check("reorder", reordered(), no_parent)
    assert found.float_ties.ties >= found.float_ties.samples > 0
    assert verification.baseline.step == "reorder"


def test_other_weights_are_wrong_whatever_level_float_ties_get():
    weights = WEIGHTS + [[0, 0], [0, 0], [0, 1]]
    with pytest.raises(VerificationError) as caught:
        verifier(one_layer(0.7, 1.4), samples()).check("reorder", reordered(weights=weights), no_parent)
    assert re.search(
        r"Float ties do not explain it: in run \d+, output 1 of 't2' is [-\d.]+, and [-\d.]+ in the network, where "
        r"rounding moves it by [-\de.]+ at most, whichever level float ties get",
        str(caught.value),
    )


def expected_of(model, stack):
    return next(iter(Executor(model).run({"x": stack}).values()))


def test_expected_outputs_may_be_on_the_other_side_of_a_tie():
    stack = samples()
    expected = expected_of(reordered(), stack)
    ties = verifier(one_layer(0.7, 1.4), stack, expected=expected).check_expected()
    assert ties.ties >= ties.samples > 0
    assert (
        verifier(
            one_layer(0.7, 1.4), stack, expected=expected_of(one_layer(0.7, 1.4), stack)
        ).check_expected()
        is None
    )


def test_other_expected_outputs_are_wrong():
    stack = samples()
    expected = expected_of(reordered(), stack)
    expected[3, 0, 1] += 2.8
    with pytest.raises(VerificationError) as caught:
        verifier(one_layer(0.7, 1.4), stack, expected=expected).check_expected()
    assert re.search(
        r"before any step: .*\. Float ties do not explain it: in sample 3, output 1 of ", str(caught.value)
    )


def test_more_ties_than_are_tried_explain_nothing():
    writer = Writer()
    weights = quantiser(writer, writer.constant(np.full((3, 40), 0.7)), (3, 40), 0.7, 4.0)
    product = writer.node("MatMul", ["x", weights.name], (1, 40))
    model = wrapped(writer, [quantiser(writer, product.name, (1, 40), 1.4, 4.0)])
    frame = np.array([[-13.0, 2.0, 12.0]], np.float32)
    search = TieSearch(FloatNetwork(model), {"x": frame})
    found = search.explain({model.graph.output[0].name: np.full((1, 40), 7.0)}, None)
    assert search.gave_up
    assert found.wrong.endswith("at most; more than 64 combinations of float ties may explain it")


def test_a_batch_may_be_on_the_other_side_of_a_tie_than_its_samples_alone():
    """A network adds a batch in another order; here it is given what the layers give, as ties of its own."""
    one, stack = two_layers(0.7, 1.4), samples()[::4]
    stack = stack[: len(stack) // 2 * 2].reshape(-1, 2, 3)
    model = ModelWrapper(one.model, make_deepcopy=True)
    del model.graph.value_info[:]
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 2
    model = model.transform(InferShapes())
    made = layers(model)
    executor, ends = Executor(model), made.graph.output[0].name
    feed = {"x": stack}
    given = Executor(made)
    assert given.signature.batch == 1
    given = given.run({"x": stack.reshape(-1, 1, 3)})[ends].reshape(len(stack), 2, -1)
    assert (given != executor.run(feed)[ends]).any()
    base = Baseline(executor, executor.signature, feed, {ends: given})
    verdict = FloatTieCheck(model).judge(base, made, np.arange(len(stack)), np.arange(0), None)
    assert verdict.wrong == ""
    assert verdict.ties.ties > 0
    far = Baseline(executor, executor.signature, feed, {ends: given + 30.0})
    assert FloatTieCheck(model).judge(far, made, np.arange(len(stack)), np.arange(0), None) == TieVerdict()
