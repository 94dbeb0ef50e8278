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
    monkeypatch.setattr("brainsmith.build.runner._QUIET", ("callable",))
    before = sys.stdout, sys.stderr, warnings.showwarning
    result = build(graphs.quant_mlp(), output=tmp_path / "out", steps=[talk], verify=False)
    assert (tmp_path / "out" / "build.log").read_text() == (
        "== talk\nprinted\nto the other one\nwarning: logged in two lines\nwarning: assumed\n"
    )
    assert result.report["steps"][0]["messages"] == ["logged in two lines", "assumed"]
    assert capsys.readouterr() == ("", "")
    assert (sys.stdout, sys.stderr, warnings.showwarning) == before


def test_what_a_step_of_the_users_own_prints_is_shown_too(tmp_path, capsys):
    build(graphs.quant_mlp(), output=tmp_path / "out", steps=[talk], verify=False)
    assert "printed\n" in (tmp_path / "out" / "build.log").read_text()
    assert capsys.readouterr() == ("printed\n", "to the other one\n")


def test_a_reused_step_says_its_warnings_again_and_keeps_no_log(tmp_path):
    build(graphs.quant_mlp(), output=tmp_path / "a", steps=[talk], verify=False)
    again = build(graphs.quant_mlp(), output=tmp_path / "b", steps=[talk], verify=False)
    assert again.report["steps"][0]["reused"]
    assert again.report["steps"][0]["messages"] == ["logged in two lines", "assumed"]
    assert not (tmp_path / "b" / "build.log").exists()


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
    with BuildLog(tmp_path / "none" / "log").taken("one") as lines:
        print("lost")
        logging.getLogger("finn").warning("kept")
    assert lines == ["kept"]
