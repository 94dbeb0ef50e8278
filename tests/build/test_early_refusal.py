"""A network that has no layers of integers is refused before the first step, with all nodes at once."""

import pytest

from brainsmith.blueprint.build_step import BuildStep, step_of
from brainsmith.build import build
from brainsmith.build.early_refusal import front_steps
from brainsmith.cli.main import main
from brainsmith.errors import BuildError, ModelError
from brainsmith.plugin.core import get_registry
from tests.build import graphs
from tests.build.test_unsupported_layers import with_hardmax

PART = "xczu7ev-ffvc1156-2-e"
MESSAGE = (
    "no integer layers for 2 nodes:\n"
    "  node 'Hardmax_0' (Hardmax), node 'Hardmax_1' (Hardmax), each: no layer of integers computes this operator: put "
    "operators in its place that have layers (docs/your_model.md lists them), in the model or with a transform of your own "
    "before this step"
)


def named(*names):
    return tuple(step_of(get_registry().resolve("step", f"brainsmith:{name}")) for name in names)


def test_nothing_may_run_between_cleanup_and_the_front_end():
    begin = named("cleanup", "integer", "hardware_inference")
    assert front_steps(begin) == begin[:2]
    mine = BuildStep("mine", "callable", "step", target=lambda model, cfg: model)
    for steps in (begin[1:], (begin[0], mine, *begin[1:]), begin[:1], (), (begin[1], begin[0])):
        assert front_steps(steps) == ()


def test_all_nodes_are_named_before_any_step(tmp_path):
    started = []
    with pytest.raises(ModelError) as caught:
        build(with_hardmax(), None, tmp_path / "out", progress=started.append, part=PART)
    assert (str(caught.value), started) == (MESSAGE, [])
    assert not list(tmp_path.iterdir())


def test_the_command_ends_with_that_text_and_no_trace(tmp_path, capsys):
    file = tmp_path / "m.onnx"
    with_hardmax().save(str(file))
    blueprint = tmp_path / "b.yaml"
    blueprint.write_text("hw_compiler:\n  output: estimates\n")
    assert (
        main(
            [
                "build",
                str(file),
                "--blueprint",
                str(blueprint),
                "--output",
                str(tmp_path / "out"),
                "--part",
                PART,
            ]
        )
        == 1
    )
    shown = capsys.readouterr().err
    assert MESSAGE.splitlines()[1] in shown and "Traceback" not in shown


def test_a_step_of_ones_own_in_front_may_replace_the_nodes(tmp_path):
    """What it makes of the network is known only when it ran: the step `integer` refuses then, in the same words."""

    def mine(model, cfg):
        return model

    with pytest.raises(BuildError) as caught:
        build(with_hardmax(), None, tmp_path / "out", steps=["cleanup", mine, "integer"])
    assert str(caught.value).startswith(f"step 'integer' failed: {MESSAGE}\n")


def test_a_network_that_is_kept_is_not_read_again(tmp_path, monkeypatch):
    steps = ["cleanup", "integer"]
    build(graphs.quant_mlp(), None, tmp_path / "out", steps=steps)
    monkeypatch.setattr(
        "brainsmith.build.job.refuse_without_layers", lambda *_: pytest.fail("it was read again")
    )
    assert all(step.reused for step in build(graphs.quant_mlp(), None, tmp_path / "out", steps=steps).steps)
