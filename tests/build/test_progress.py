"""How far a step is: what whoever builds hears of it, and that hearing it changes nothing."""

import pytest

from brainsmith import progress
from brainsmith.build import build
from brainsmith.progress import Task
from tests.build import graphs


@pytest.fixture(autouse=True)
def at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(progress, "INTERVAL", 0.0)


def count(model, cfg):
    with Task("counting", 2, "sheep") as task:
        print("said by the step")
        task.add()
    return model


def same(model, cfg):
    return model


def build_with(listener, tmp_path, steps=(same, count)):
    return build(
        graphs.quant_mlp(), output=tmp_path / "out", steps=list(steps), report=False, progress=listener
    )


@pytest.mark.slow
def test_a_step_says_how_far_it_is(tmp_path):
    events = []
    build_with(events.append, tmp_path)
    assert [(event.kind, event.index) for event in events] == [
        ("check", 0), ("start", 1), ("done", 1), ("start", 2), ("work", 2), ("work", 2), ("done", 2)
    ]  # fmt: skip
    first, second = (event for event in events if event.kind == "work")
    assert (str(first), str(second)) == (
        "[2/2] count: counting: 0 of 2 sheep, 0 s",
        "[2/2] count: counting: 1 of 2 sheep, 0 s",
    )
    ((what, done, total, unit),) = ((work.what, work.done, work.total, work.unit) for work in second.works)
    assert (what, done, total, unit) == ("counting", 1, 2, "sheep")


@pytest.mark.slow
def test_what_a_listener_does_is_no_part_of_the_step(tmp_path, capsys):
    (tmp_path / "note").write_text("one")

    def listen(event):
        if event.kind == "work":
            print("heard", (tmp_path / "note").read_text())

    build_with(listen, tmp_path)
    assert "heard one\n" in capsys.readouterr().out
    assert (tmp_path / "out" / "build.log").read_text() == "== count\nsaid by the step\n"
    (tmp_path / "note").write_text("two")
    assert [step.reused for step in build_with(listen, tmp_path).steps] == [True, True]
    assert "heard" not in capsys.readouterr().out  # a step that is reused does not work


@pytest.mark.parametrize("error", [BrokenPipeError(), ZeroDivisionError("mine"), KeyboardInterrupt("enough")])
@pytest.mark.slow
def test_what_a_listener_raises_is_not_the_steps_failure(tmp_path, error):
    def listen(event):
        if event.kind == "work":
            raise error

    with pytest.raises(type(error)) as caught:
        build_with(listen, tmp_path)
    if isinstance(error, KeyboardInterrupt):
        assert str(caught.value).startswith("build interrupted after 1 of 2 steps; ")
    else:
        assert caught.value is error
    assert not (tmp_path / "out").exists()
