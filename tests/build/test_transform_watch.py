"""Transforms in a build end, and leave a graph that is one; the one that does not is named, whoever applies it."""

import re

import pytest
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.base import Transformation
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.build import build
from brainsmith.build.transform_watch import PASSES, transforms_watched
from brainsmith.errors import BlueprintError, BuildError
from tests.build import graphs


class Endless(Transformation):
    """Always says that it changed the graph; what it does is `edit`."""

    def __init__(self, edit=None, until=None):
        self.edit = edit
        self.left = until

    def apply(self, model):
        if self.edit is not None:
            self.edit(model)
        if self.left is not None:
            self.left -= 1
        return model, self.left != 0


class Edit(Endless):
    """Edits once."""

    def __init__(self, edit):
        super().__init__(edit, 1)


class Outer(Transformation):
    """Applies another one."""

    def __init__(self, inner):
        self.inner = inner

    def apply(self, model):
        return model.transform(self.inner), False


def add_relu(model):
    number = len(model.graph.node)
    model.graph.node.append(helper.make_node("Relu", ["x"], [f"more{number}"], name=f"more{number}"))


def toggle(model):
    has = model.get_tensor_datatype("m1") == DataType["INT8"]
    model.set_tensor_datatype("m1", DataType["INT9" if has else "INT8"])


def ended(step, tmp_path, **more):
    with pytest.raises(BuildError) as caught:
        build(
            graphs.quant_mlp(),
            output=tmp_path / "out",
            steps=[step],
            verify=False,
            report=False,
            use_cache=False,
            **more,
        )
    return str(caught.value).partition("\n")[0]


ADVICE = (
    "`apply` must return False as second value once it changes nothing more; if it needs more passes: "
    "{transform: Endless, passes: NUMBER}"
)


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (None, "changed nothing"),
        (add_relu, f"added node 'more{len(graphs.quant_mlp().graph.node) + PASSES - 1}' (Relu)"),
        (toggle, "changed the datatype or layout of tensor 'm1'"),
    ],
)
def test_an_endless_transform_is_stopped_and_named_with_what_it_changed_last(tmp_path, edit, changed):
    said = f"transform 'Endless' asks to be applied again after 100 passes. In the last one it {changed}. {ADVICE}"
    assert ended(Endless(edit), tmp_path) == f"step 'Endless' failed: {said}"


def test_one_within_a_step_or_another_transform_is_named_too(tmp_path):
    def own(model, cfg):
        return model.transform(Outer(Endless()))

    assert ended(own, tmp_path).startswith(
        "step 'own' failed: transform 'Endless' asks to be applied again after 100 passes. "
    )


def test_a_transform_may_take_as_many_passes_as_there_are_nodes(tmp_path):
    model = graphs.quant_mlp()
    with transforms_watched():
        model.transform(Endless(until=PASSES))
        with pytest.raises(BuildError, match="after 100 passes"):
            model.transform(Endless(until=PASSES + 1))
        while len(model.graph.node) < PASSES + 1:
            add_relu(model)
        model.transform(Endless(until=PASSES + 1))
        with pytest.raises(BuildError, match="after 101 passes"):
            model.transform(Endless(until=PASSES + 2))


def test_the_limit_can_be_stated():
    model = graphs.quant_mlp()
    with transforms_watched(7):
        model.transform(Endless(until=7))
        with pytest.raises(BuildError, match="after 7 passes"):
            model.transform(Endless(until=8))


@pytest.mark.slow
def test_a_blueprint_states_it_for_a_transform(tmp_path):
    plan = tmp_path / "plan.yaml"
    words = {"output": tmp_path / "out", "verify": False, "report": False, "use_cache": False}
    plan.write_text("hw_compiler:\n  steps:\n    - {transform: finn:FoldQuantWeights, passes: 2}\n")
    with pytest.raises(BuildError) as caught:
        build(graphs.quant_mlp(), plan, **words)
    assert str(caught.value).startswith(
        "step 'FoldQuantWeights' failed: transform 'FoldQuantWeights' asks to be applied again after 2 passes. In the last "
        "one it added "
    )
    plan.write_text("hw_compiler:\n  steps:\n    - {transform: finn:FoldQuantWeights, passes: 3}\n")
    build(graphs.quant_mlp(), plan, **words)


@pytest.mark.parametrize(
    ("passes", "shown"),
    [
        ("0", "0"),
        ("1.5", "1.5"),
        ("many", "'many'"),
        ("9" * 5000, "'" + "9" * 199 + "... (5002 characters) is not a YAML int"),
    ],
)
def test_a_number_of_passes_that_is_none(tmp_path, passes, shown):
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"hw_compiler:\n  steps:\n    - {{transform: qonnx:InferDataTypes, passes: {passes}}}\n")
    with pytest.raises(BlueprintError) as caught:
        build(graphs.quant_mlp(), plan, tmp_path / "out")
    assert str(caught.value) == (
        f"{plan}:3:49: steps[0].passes must be a whole number from 1 to 1,000,000, not {shown}"
    )


def test_a_list_of_steps_states_it_too(tmp_path):
    words = {"output": tmp_path / "out", "verify": False, "report": False, "use_cache": False}
    entry = {"transform": "finn:FoldQuantWeights", "passes": 1}
    with pytest.raises(BuildError, match=r"asks to be applied again after 1 pass\. "):
        build(graphs.quant_mlp(), steps=[entry], **words)
    with pytest.raises(BuildError, match=r"^steps\[0\]: passes must be a whole number, 1 or more, not 'x'$"):
        build(graphs.quant_mlp(), steps=[{**entry, "passes": "x"}], **words)


def test_outside_of_a_build_nothing_is_counted_or_checked():
    with transforms_watched():
        pass
    model = graphs.quant_mlp()
    model.transform(Endless(until=3 * PASSES))
    broken = model.transform(Edit(lambda model: model.graph.node[-1].output.append("x")), cleanup=False)
    assert broken.graph.node[-1].output[-1] == "x"


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (
            lambda model: model.graph.node[-1].input.__setitem__(0, "nowhere"),
            "node 'matmul1' (MatMul) needs the tensor 'nowhere', which no input, constant or node gives",
        ),
        (
            lambda model: model.graph.node.insert(0, helper.make_node("Relu", ["x"], ["m1"], name="again")),
            "the tensor 'm1' is given twice: by node 'again' (Relu) and by node 'matmul1' (MatMul)",
        ),
        (
            lambda model: setattr(model.graph.node[-1], "name", model.graph.node[0].name),
            "two nodes have the name 'act0' (Quant and MatMul)",
        ),
        (
            lambda model: model.graph.node[0].input.__setitem__(0, model.graph.node[-1].output[0]),
            "it has a cycle: node 'act0' (Quant) -> node 'matmul0' (MatMul) -> node 'act1' (Quant) -> "
            "node 'matmul1' (MatMul) -> node 'act0' (Quant)",
        ),
        (
            lambda model: model.graph.node[-1].output.__setitem__(0, model.graph.node[0].output[0]),
            "the tensor 'a0' is given twice: by node 'act0' (Quant) and by node 'matmul1' (MatMul)",
        ),
    ],
)
def test_a_transform_or_step_that_breaks_the_graph_is_named(tmp_path, edit, fault):
    assert ended(Edit(edit), tmp_path) == f"step 'Edit' failed: transform 'Edit' left a broken graph: {fault}"

    def own(model, cfg):
        edit(model)
        return model

    place = f"{__file__}:{own.__code__.co_firstlineno}"
    assert ended(own, tmp_path) == f"step 'own' failed: it returned a broken graph: {fault} ({place})"

    def applying(model, cfg):
        return model.transform(Outer(Edit(edit)))

    assert (
        ended(applying, tmp_path) == f"step 'applying' failed: transform 'Edit' left a broken graph: {fault}"
    )


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("finn:step_tidy_up", marks=pytest.mark.slow),
        {"transform": "qonnx:RemoveStaticGraphInputs"},
    ],
)
def test_what_the_steps_of_finn_and_qonnx_do_is_looked_at_too(tmp_path, monkeypatch, step):
    from qonnx.transformation.general import RemoveStaticGraphInputs

    def breaks(self, model):
        model.graph.node[-1].input[0] = "nowhere"
        return model, False

    def loses(self, model):
        del model.graph.value_info[:]
        return model, False

    model = graphs.quant_mlp().transform(InferShapes())
    monkeypatch.setattr(RemoveStaticGraphInputs, "apply", breaks)
    said = ended(step, tmp_path)
    name = step if isinstance(step, str) else "RemoveStaticGraphInputs"
    assert said.startswith(f"step '{name}' failed: transform '")
    assert " left a broken graph: node " in said
    assert said.endswith(" needs the tensor 'nowhere', which no input, constant or node gives")
    monkeypatch.setattr(RemoveStaticGraphInputs, "apply", loses)
    result = build(model, output=tmp_path / "out", steps=[step], verify=False, report=False, use_cache=False)
    (line,) = result.steps[0].messages
    assert line.startswith("the shapes of '")
    # What infers them loses them as well.
    assert re.search(r" were lost by transform '\w+', and cannot be inferred$", line)


def test_a_transform_may_use_another_while_its_own_work_is_half_done(tmp_path):
    class HalfDone(Transformation):
        def apply(self, model):
            name, model.graph.node[-1].input[0] = model.graph.node[-1].input[0], "soon"
            model = model.transform(Edit(lambda model: None), cleanup=False)
            model = model.transform(Edit(lambda model: None), make_deepcopy=False, cleanup=False)
            model.graph.node[-1].input[0] = name
            return model, False

    build(graphs.quant_mlp(), output=tmp_path / "out", steps=[HalfDone()], verify=False, use_cache=False)


def test_names_that_finn_gives_twice_are_made_unique():
    from finn.transformation.streamline.reorder import MoveLinearPastFork

    values = [helper.make_tensor_value_info(name, 1, [1, 4]) for name in ("x", "y", "z")]
    nodes = [
        helper.make_node("Mul", ["x", "two"], ["t"], name="Mul_0"),
        helper.make_node("Relu", ["t"], ["y"], name="Relu_0"),
        helper.make_node("Abs", ["t"], ["z"], name="Abs_0"),
    ]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], [helper.make_tensor("two", 1, [1], [2.0])])
    model = ModelWrapper(helper.make_model(graph))
    plain = model.transform(MoveLinearPastFork())
    assert sorted(node.name for node in plain.graph.node if node.op_type == "Mul") == ["Mul_0", "Mul_0"]
    with transforms_watched():
        watched = model.transform(MoveLinearPastFork())
    assert sorted(node.name for node in watched.graph.node if node.op_type == "Mul") == ["Mul_0", "Mul_0_1"]
