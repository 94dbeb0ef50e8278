"""What steps say goes to the build's log, each thread's to its own."""

import logging
import sys
import threading
import warnings

from brainsmith.build import build
from brainsmith.build.messages import BuildLog
from tests.build import graphs


def talk(model, cfg):
    print("printed")
    print("to the other one", file=sys.stderr)
    logging.getLogger("finn").warning("logged\nin two lines")
    logging.getLogger("finn").info("not kept")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("assumed", stacklevel=1)
    return model


def test_what_steps_say_is_in_the_log_and_their_warnings_in_the_report(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("brainsmith.build.runner.FRAMEWORKS", ("callable",))
    before = sys.stdout, sys.stderr, warnings.showwarning
    result = build(graphs.quant_mlp(), output=tmp_path / "out", steps=[talk], verify=False)
    assert (tmp_path / "out" / "build.log").read_text() == (
        "== talk\nprinted\nto the other one\nwarning: logged in two lines\nwarning: assumed\n"
    )
    assert result.report["steps"][0]["messages"] == ["logged in two lines", "assumed"]
    assert capsys.readouterr() == ("", "")
    assert (sys.stdout, sys.stderr, warnings.showwarning) == before


def test_what_a_step_of_the_users_own_prints_is_shown_too_and_again_when_it_is_reused(tmp_path, capsys):
    for name, reused in (("a", False), ("b", True)):
        result = build(graphs.quant_mlp(), output=tmp_path / name, steps=[talk], verify=False)
        assert result.steps[0].reused == reused
        assert result.report["steps"][0]["messages"] == ["logged in two lines", "assumed"]
        assert (tmp_path / name / "build.log").read_text() == (
            "== talk\nprinted\nto the other one\nwarning: logged in two lines\nwarning: assumed\n"
        )
        assert capsys.readouterr() == ("printed\n", "to the other one\n")


def test_what_is_printed_stands_between_what_is_said_of_the_steps(tmp_path, capsys):
    def first(model, cfg):
        print("of the first")
        return model

    def second(model, cfg):
        print("of the second")
        return model

    def build_again():
        build(
            graphs.quant_mlp(),
            output=tmp_path / "out",
            steps=[first, second],
            verify=False,
            progress=lambda event: print(event.kind, event.index),
        )
        return capsys.readouterr().out

    assert (
        build_again() == build_again() == ("start 1\nof the first\ndone 1\nstart 2\nof the second\ndone 2\n")
    )


def test_threads_do_not_hear_each_other(tmp_path, capsys):
    first, second = BuildLog(tmp_path / "first"), BuildLog(tmp_path / "second")
    inside, go_on = threading.Event(), threading.Event()

    def other():
        with second.taken("two"):
            inside.set()
            go_on.wait(10)
            print("second")

    thread = threading.Thread(target=other)
    with first.taken("one"):
        thread.start()
        inside.wait(10)
        print("first")
    print("the main thread's own")
    go_on.set()
    thread.join()
    print("after")
    assert (tmp_path / "first").read_text() == "== one\nfirst\n"
    assert (tmp_path / "second").read_text() == "== two\nsecond\n"
    assert capsys.readouterr().out == "the main thread's own\nafter\n"


def test_a_log_within_a_log(tmp_path):
    outer, inner = BuildLog(tmp_path / "outer"), BuildLog(tmp_path / "inner")
    with outer.taken("one"):
        with inner.taken("two"):
            print("in")
        print("out")
    assert (tmp_path / "outer").read_text() == "== one\nout\n"
    assert (tmp_path / "inner").read_text() == "== two\nin\n"


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path):
    with BuildLog(tmp_path / "none" / "log").taken("one") as said:
        print("lost")
        logging.getLogger("finn").warning("kept")
    assert said.warnings == ["kept"]
    assert said.texts == [("stdout", "lost\n"), ("warning", "kept")]


def test_what_this_project_itself_warns_of_is_a_warning_of_the_build_also_when_the_step_is_reused(tmp_path):
    def skip(model, cfg):
        logging.getLogger("brainsmith.steps.fold").warning("layer a is slow")
        logging.getLogger("finn").warning("layer b is slow")
        return model

    for name, reused in (("a", False), ("b", True)):
        result = build(graphs.quant_mlp(), output=tmp_path / name, steps=[skip], verify=False)
        assert result.steps[0].reused == reused
        assert result.steps[0].messages == ("layer a is slow", "layer b is slow")
        assert [text for text in result.warnings if "slow" in text] == ["step 'skip': layer a is slow"]
        assert result.report["warnings"] == list(result.warnings)
