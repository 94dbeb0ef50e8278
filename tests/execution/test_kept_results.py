"""What a model gave is kept by content: the same again is not run, anything else is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.build.verification_device import VerificationDevice
from brainsmith.execution import execute
from brainsmith.execution.execute import Executor, ExecutorFacts
from brainsmith.execution.kept_results import KeptResults, key_of
from tests.build import graphs


@pytest.fixture
def lowered(monkeypatch):
    """How often models are lowered."""
    real, times = execute.lower, []

    def lower(*given, **named):
        times.append(1)
        return real(*given, **named)

    monkeypatch.setattr(execute, "lower", lower)
    return times


def test_the_same_runs_again_lower_nothing_and_give_the_same(lowered):
    model = graphs.quant_mlp()
    stack = graphs.samples(model)[:8, None]
    found, facts = [], []
    for _ in range(2):
        device = VerificationDevice(keep=True)
        executor = device.program(model)
        facts.append((executor.inputs, executor.outputs, executor.constants, executor.signature))
        facts[-1] += (executor.shape("a1"), executor.order())
        found.append([executor.run({"x": stack}), executor.run({"x": stack}, frozenset({"m1"}))])
        assert executor.seconds({"x": stack}) > 0
        device.save()
    assert len(lowered) == 1 and facts[0] == facts[1]
    plain = Executor(model).run({"x": stack}, frozenset({"m1"}))
    for before, after in zip(*found, strict=True):
        assert before.keys() == after.keys()
        for name, values in after.items():
            np.testing.assert_array_equal(values, before[name])
            np.testing.assert_array_equal(values, plain[name])
    assert after["m1"].flags.writeable


def test_other_inputs_tensors_or_models_are_run(lowered):
    model = graphs.quant_mlp()
    stack = graphs.samples(model)[:4, None]
    device = VerificationDevice(keep=True)
    device.program(model).run({"x": stack})
    device.save()
    for fed, keep in ((stack[:3], ()), (stack + 1, ()), (stack, ("m1",))):
        lowered.clear()
        executor = VerificationDevice(keep=True).program(model)
        given = executor.run({"x": fed}, frozenset(keep))
        assert len(lowered) == 1
        wanted = Executor(model).run({"x": fed}, frozenset(keep))
        assert all(np.array_equal(given[name], wanted[name]) for name in wanted)
    changed = graphs.quant_mlp()
    weights = changed.get_initializer("w1")
    changed.set_initializer("w1", -weights)
    lowered.clear()
    given = VerificationDevice(keep=True).program(changed).run({"x": stack})
    assert len(lowered) == 1
    assert not np.array_equal(
        next(iter(given.values())), next(iter(Executor(model).run({"x": stack}).values()))
    )


def test_models_that_differ_in_the_name_of_their_folder_alone_are_the_same(lowered, tmp_path):
    stack = graphs.samples(graphs.quant_mlp())[:4, None]

    def run(name, building):
        model = graphs.quant_mlp()
        model.graph.node[0].attribute.add(name="code_gen_dir", type=3).s = f"{tmp_path / name}/code".encode()
        device = VerificationDevice(keep=True, folder=building)
        found = device.program(model).run({"x": stack})
        device.save()
        return next(iter(found.values()))

    first = run("one", tmp_path / "one")
    lowered.clear()
    np.testing.assert_array_equal(run("other", tmp_path / "other"), first)
    assert lowered == []
    run("third", None)
    assert len(lowered) == 1


def test_a_model_that_changes_after_it_was_read_is_run_as_it_was_read():
    model = graphs.quant_mlp()
    stack = graphs.samples(model)[:4, None]
    device = VerificationDevice(keep=True)
    device.program(model).run({"x": stack[:1]})
    device.save()
    wanted = Executor(model).run({"x": stack})
    executor = VerificationDevice(keep=True).program(model)  # of which the facts are known
    model.set_initializer("w1", -model.get_initializer("w1"))
    given = executor.run({"x": stack})
    assert all(np.array_equal(given[name], wanted[name]) for name in wanted)


def test_without_a_cache_or_with_operators_of_plugins_nothing_is_kept(lowered):
    model = graphs.quant_mlp()
    stack = graphs.samples(model)[:4, None]
    for _ in range(2):
        device = VerificationDevice()
        device.program(model).run({"x": stack})
        device.save()
    assert len(lowered) == 2
    foreign = graphs.quant_mlp()
    foreign.graph.node[0].domain = "acme.ops"
    device = VerificationDevice(keep=True)
    device._results.clear()
    with pytest.raises(Exception):  # noqa: B017  (it is defined nowhere)
        device.program(foreign).run({"x": stack})
    assert device._results == []


def test_what_is_damaged_or_too_large_is_run(monkeypatch, lowered):
    model = graphs.quant_mlp()
    stack = graphs.samples(model)[:4, None]
    content = [model.model.SerializeToString(deterministic=True)]
    key = key_of({"x": stack}, frozenset())
    for plain in (7, (1, 2, 3), (None, {key: 5}), (None, {key: ({"y": ("<f4", (9, 9), b"1")}, 1.0)})):
        results = KeptResults(content)
        results._place.save(plain, ["brainsmith.execution.execute"])
        assert KeptResults(content).find(key) is None
        Executor(model, None, KeptResults(content)).run({"x": stack})
    assert ExecutorFacts.of_plain((1, 2)) is None and ExecutorFacts.of_plain(None) is None
    monkeypatch.setattr("brainsmith.execution.kept_results.MOST_BYTES", 10)
    lowered.clear()
    for _ in range(2):
        device = VerificationDevice(keep=True)
        device.program(graphs.quant_mlp()).run({"x": stack + 2})
        device.save()
    assert len(lowered) == 2


@given(
    st.lists(
        st.tuples(
            st.text(max_size=3),
            st.sampled_from(["<f4", "<f8", "<i4"]),
            st.lists(st.integers(0, 2), max_size=3),
        ),
        max_size=3,
    ),
    st.frozensets(st.text(max_size=2), max_size=2),
)
def test_a_key_is_of_names_types_shapes_values_and_tensors(parts, keep):
    feed = {name: np.array(values, dtype) for name, dtype, values in parts}
    key = key_of(feed, keep)
    assert key == key_of({name: stack.copy() for name, stack in feed.items()}, keep)
    for name, stack in feed.items():
        assert key_of({**feed, name: stack[None]}, keep) != key
        assert key_of({**feed, name: np.append(stack, 1).astype(stack.dtype)}, keep) != key
    assert key_of(feed, keep | {"more"}) != key
