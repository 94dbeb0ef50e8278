"""Transforms and steps of another environment, called as if they were here."""

import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.build import build
from brainsmith.errors import (
    BuildError,
    ForeignPluginError,
    PluginArgumentsError,
    PluginEnvironmentError,
    PluginLoadError,
)
from brainsmith.plugin.environments.environment_worker import close_workers, worker_of
from brainsmith.plugin.environments.worker_failure import failure
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugins import transforms as tfm
from tests.build import graphs
from tests.plugin.environments.other_pythons import (
    PLUGINS,
    name_environments,
    sharing_environment,
    virtual_environment,
)

ODD = """\
import logging
import multiprocessing
import os
import signal
from pathlib import Path

from qonnx.transformation.base import Transformation

from brainsmith import step, transform

import elsewhere
from . import number


@transform(stage="tidy")
class Edit(Transformation):
    def apply(self, model):
        model.graph.doc_string += f"{number.VALUE} {elsewhere.VALUE};"
        if number.VALUE == 1:
            Path(number.__file__).write_text("VALUE = 22\\n")
        return model, False


def print_much(letter):
    for _ in range(20):
        print(letter * 100_000)


@transform(stage="tidy")
class Fork(Transformation):
    def apply(self, model):
        with multiprocessing.get_context("fork").Pool(3) as pool:
            pool.map(print_much, "abc", chunksize=1)
        return model, False


@transform(stage="tidy")
class Orphan(Transformation):
    def __init__(self, dies=True):
        super().__init__()
        self.dies = dies

    def apply(self, model):
        if os.fork() == 0:
            signal.pause()
        if self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return model, False


@step
def list_folder(model, cfg):
    model.graph.doc_string = " ".join(sorted(os.listdir("listed")))
    return model


@transform(stage="tidy")
class Log(Transformation):
    def apply(self, model):
        logging.getLogger("acme").warning("%d of them", "many")
        return model, False


class Loud:
    def __init__(self):
        self.me = self

    def __del__(self):
        print("gone")


@transform(stage="tidy")
class Destroy(Transformation):
    def apply(self, model):
        for _ in range(5000):
            Loud()
            print("made")
        return model, False
"""

NOTED = "numpy 1.26.4, qonnx 0.4.0"


@pytest.fixture
def bare(project, tmp_path, no_frameworks):
    """An environment in which there are plugins and nothing else."""
    root = virtual_environment(
        tmp_path / "bare", f"{sys.version_info[0]}.{sys.version_info[1]}.0", plugins=PLUGINS
    )
    name_environments(project, acme=root)
    yield root
    close_workers()


def test_arguments_are_checked_here_before_anything_is_started(bare):
    with pytest.raises(PluginArgumentsError) as caught:
        get_plugin_manager().get_instance("transform", "acme:Tag", 1, 2, 3)
    assert str(caught.value) == (
        "transform 'acme:Tag' cannot be created with these arguments: too many positional arguments\n"
        "  it takes Tag(prefix='', weights=None)"
    )
    with pytest.raises(PluginArgumentsError) as caught:
        tfm.acme.Tag(prefix={1: object()})
    assert str(caught.value) == (
        "argument prefix of transform 'acme:Tag' holds a value of type object, which cannot be passed to environment "
        "'acme': numbers, texts, bytes, paths, arrays, and lists, tuples and dicts of these can"
    )
    assert worker_of(tfm.get_info("acme:Tag")).pid is None
    assert tfm.acme.Tag.__doc__ == "Note the versions of the packages that are here."


@pytest.mark.slow
def test_what_is_not_installed_there_is_named(bare):
    with pytest.raises(ImportError) as caught:
        graphs.quant_mlp().transform(tfm.acme.Tag())
    file = next(bare.glob("lib/*/site-packages/acme_plugins/__init__.py"))
    assert str(caught.value) == (
        f"transform 'acme:Tag' ({file}:13) cannot be loaded: importing 'acme_plugins' in environment 'acme' raised "
        f"ModuleNotFoundError: No module named 'numpy' ({file}:6)"
    )


def instead_of_python(root, text):
    """Let a shell script be the interpreter of an environment; it is called as `python -I SCRIPT ASKED ANSWERS`."""
    python = root / "bin" / "python"
    python.unlink()
    python.write_text(f"#!/bin/sh\n{text}\n")
    python.chmod(0o755)


def failure_of_a_call():
    info = tfm.get_info("acme:Tag")
    with pytest.raises(PluginEnvironmentError) as caught:
        worker_of(info).call(info, {}, [b""], lambda asked: asked)
    assert worker_of(info).pid is None
    return str(caught.value)


@pytest.fixture
def sharing(project, tmp_path):
    """The folder of a package that is installed in place in an environment with this one's packages and odd plugins."""
    packages = sharing_environment(tmp_path / "sharing", ODD)
    (packages / "acme_plugins" / "number.py").write_text("VALUE = 1\n")
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "elsewhere.py").write_text("VALUE = 1\n")
    (packages / "elsewhere.pth").write_text(f"{sources}\n")
    name_environments(project, acme=f"{{python: {tmp_path / 'sharing'}, time_limit: 60}}")
    yield sources
    close_workers()


@pytest.mark.slow
def test_what_is_saved_in_a_call_or_beside_the_package_is_imported_anew_by_the_next_call(sharing):
    model = graphs.quant_mlp()
    model, _ = tfm.acme.Edit().apply(model)
    model, _ = tfm.acme.Edit().apply(model)
    (sharing / "elsewhere.py").write_text("VALUE = 333\n")
    assert tfm.acme.Edit().apply(model)[0].graph.doc_string == "1 1;22 1;22 333;"


@pytest.mark.slow
def test_a_step_that_lists_a_folder_is_run_again_when_there_is_another_file(sharing, project):
    graphs.quant_mlp().save("m.onnx")
    project.write("b.yaml", "hw_compiler:\n  steps:\n    - acme:list_folder\n")
    for name, said, reused in (("a", "a", False), ("a", "a", True), ("b", "a b", False)):
        project.write(f"listed/{name}", "")
        result = build("m.onnx", "b.yaml", "out")
        assert (ModelWrapper(str(result.model)).graph.doc_string, result.steps[0].reused) == (said, reused)


@pytest.mark.slow
def test_children_that_a_plugin_forks_print_past_the_pipes(sharing, capsys):
    tfm.acme.Fork().apply(graphs.quant_mlp())
    printed = capsys.readouterr().err
    assert {letter: printed.count(letter) for letter in "abc"} == dict.fromkeys("abc", 2_000_000)


@pytest.mark.slow
def test_a_worker_that_ends_is_noticed_where_a_process_that_it_forked_goes_on(sharing):
    with pytest.raises(PluginEnvironmentError) as caught:
        tfm.acme.Orphan().apply(graphs.quant_mlp())
    assert str(caught.value) == (
        "the worker of environment 'acme' ended its process by SIGKILL in transform 'acme:Orphan'; the next call starts "
        "a new one"
    )
    tfm.acme.Orphan(dies=False).apply(graphs.quant_mlp())
    pid = worker_of(tfm.get_info("acme:Orphan")).pid
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    tfm.acme.Orphan(dies=False).apply(graphs.quant_mlp())


@pytest.mark.slow
def test_a_record_whose_arguments_do_not_fit_costs_a_plugin_nothing(sharing, capsys):
    tfm.acme.Log().apply(graphs.quant_mlp())
    printed = capsys.readouterr().err
    assert printed.startswith("--- Logging error ---\n") and "Message: '%d of them'" in printed


@pytest.mark.slow
def test_what_is_destroyed_while_a_message_is_sent_may_print(sharing, capsys):
    tfm.acme.Destroy().apply(graphs.quant_mlp())
    printed = capsys.readouterr()
    assert printed.out.count("made\n") == 5000
    assert (printed.out + printed.err).count("gone") > 4000


def test_a_worker_that_cannot_start_shows_what_it_printed(bare):
    instead_of_python(bare, "echo Python 3.6 is too old for a worker >&2\nexit 1")
    assert failure_of_a_call() == (
        f"the worker of environment 'acme' ({bare}/bin/python) ended its process with exit code 1 when it was started for "
        "transform 'acme:Tag'\n  it printed last:\n    Python 3.6 is too old for a worker"
    )
    (bare / "bin" / "python").write_bytes(b"\x7f")
    assert failure_of_a_call().startswith(
        f"the worker of environment 'acme' cannot be started: {bare}/bin/python cannot be started: "
    )


def open_files():
    listed = map(int, os.listdir("/proc/self/fd"))
    return {number for number in listed if os.path.exists(f"/proc/self/fd/{number}")}


def test_where_no_more_files_can_be_opened_none_stays_open(bare):
    info = tfm.get_info("acme:Tag")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = open_files()
    free = [number for number in range(max(before) + 7) if number not in before]
    for room in range(6):
        resource.setrlimit(resource.RLIMIT_NOFILE, (free[room], limit[1]))
        try:
            with pytest.raises(
                PluginEnvironmentError, match=r"^the worker of environment 'acme' cannot be started: "
            ):
                worker_of(info).call(info, {}, [], None)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        assert open_files() == before


def test_a_worker_that_ends_in_a_call_is_named_with_how_it_ended(bare):
    ready = '{"kind": "ready", "blobs": []}'
    instead_of_python(bare, f"printf '\\000\\000\\000\\{len(ready):03o}{ready}' > /dev/fd/$4\nkill -SEGV $$")
    assert failure_of_a_call() == (
        "the worker of environment 'acme' ended its process by SIGSEGV in transform 'acme:Tag'"
        "; the next call starts a new one"
    )


def test_a_record_alone_starts_no_program(bare, tmp_path):
    info = tfm.get_info("acme:Tag")
    forged = info.replace(extra={**info.extra, "python": str(tmp_path / "python")})
    with pytest.raises(PluginEnvironmentError) as caught:
        forged.load()
    assert str(caught.value) == (
        f"transform 'acme:Tag' is of environment 'acme' ({bare}), which the settings do not name"
    )


def test_an_error_of_a_plugin_is_an_error_here(bare):
    info = tfm.get_info("acme:Tag")
    answer = {
        "error": "acme.Odd",
        "text": "too odd",
        "place": "norms.py:3",
        "trace": "Traceback: ...",
        "phase": "call",
    }
    error = failure(info, answer)
    assert (type(error), str(error)) == (
        ForeignPluginError,
        "acme.Odd: too odd (norms.py:3), in environment 'acme'",
    )
    assert error.__notes__ == ["In the worker of environment 'acme':\nTraceback: ..."]
    error = failure(info, {**answer, "phase": "import"})
    assert (type(error), str(error)) == (
        PluginLoadError,
        f"transform 'acme:Tag' ({info.origin}) cannot be loaded: importing 'acme_plugins' in environment 'acme' raised "
        "acme.Odd: too odd (norms.py:3)",
    )
    assert str(failure(info, {**answer, "phase": "model"})) == (
        "environment 'acme' cannot read the model: acme.Odd: too odd (norms.py:3); it needs onnx and qonnx for transform "
        "'acme:Tag'"
    )


@pytest.mark.slow
def test_a_transform_runs_there_and_what_it_says_comes_here(acme, capsys, caplog):
    model = graphs.quant_mlp()
    with caplog.at_level(logging.WARNING):
        after = model.transform(tfm.acme.Tag("a ", weights=np.arange(4.0)))
    assert after.graph.doc_string == f"a {NOTED} 6;"
    assert capsys.readouterr().out == "pass 1\npass 2\n"  # one instance for both
    assert [(one.name, one.message) for one in caplog.records] == [("acme.tag", "numpy is 1.26.4")] * 2
    assert model.graph.doc_string == ""


@pytest.mark.slow
def test_what_is_large_passes_in_shared_memory_of_which_nothing_stays(acme):
    worker = worker_of(tfm.get_info("acme:Tag"))
    after = graphs.quant_mlp().transform(tfm.acme.Tag("a ", weights=np.ones(100_000)))
    assert after.graph.doc_string == f"a {NOTED} 100000;"
    folder = worker._connection._folder
    assert os.listdir(folder) == []
    close_workers()
    assert not os.path.exists(folder)


@pytest.mark.slow
def test_one_worker_does_all_and_another_is_started_when_it_died(acme, capfd):
    model, worker = graphs.quant_mlp(), worker_of(tfm.get_info("acme:Tag"))
    model.transform(tfm.acme.Tag())
    first = worker.pid
    kept = tfm.acme.Tag("kept ")
    model.transform(kept)
    assert worker.pid == first
    with pytest.raises(PluginEnvironmentError) as caught:
        model.transform(tfm.acme.Die())
    assert str(caught.value) == (
        "the worker of environment 'acme' ended its process by SIGKILL in transform 'acme:Die'; the next call starts "
        "a new one\n  it printed last:\n    the last words"
    )
    assert worker.pid is None
    assert model.transform(kept).graph.doc_string == f"kept {NOTED};"
    os.kill(worker.pid, signal.SIGKILL)
    time.sleep(0.1)
    assert model.transform(tfm.acme.Tag()).graph.doc_string == f"{NOTED};"
    assert worker.pid != first


@pytest.mark.slow
def test_what_a_plugin_raises_comes_with_its_line_and_traceback(acme, old_environment):
    with pytest.raises(ForeignPluginError) as caught:
        graphs.quant_mlp().transform(tfm.acme.Fail())
    file = next(old_environment.glob("lib/*/site-packages/acme_plugins/__init__.py"))
    line = PLUGINS[: PLUGINS.index("raise ValueError")].count("\n") + 1
    assert str(caught.value) == f"ValueError: a bad axis ({file}:{line}), in environment 'acme'"
    (note,) = caught.value.__notes__
    assert note.startswith("In the worker of environment 'acme':\nTraceback (most recent call last):\n")
    assert note.endswith('raise ValueError("a bad axis")\nValueError: a bad axis\n')


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_ended(acme, old_environment):
    name_environments(acme, acme=f"{{python: {old_environment}, time_limit: 5}}")
    with pytest.raises(PluginEnvironmentError) as caught:
        graphs.quant_mlp().transform(tfm.acme.Wait())
    assert str(caught.value) == (
        "the worker of environment 'acme' did not end within 5 s in transform 'acme:Wait'; the next call starts a new one"
    )


@pytest.mark.slow
def test_ctrl_c_ends_a_call_and_its_worker(acme):
    model, worker = graphs.quant_mlp(), worker_of(tfm.get_info("acme:Tag"))
    model.transform(tfm.acme.Tag())
    pid = worker.pid
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        model.transform(tfm.acme.Wait())
    assert not Path(f"/proc/{pid}").exists()
    assert model.transform(tfm.acme.Tag()).graph.doc_string == f"{NOTED};"


@pytest.mark.slow
def test_a_worker_ends_with_a_process_that_is_killed(acme):
    code = (
        "from brainsmith.plugins import transforms as tfm\nfrom tests.build import graphs\n"
        "from brainsmith.plugin.environments.environment_worker import worker_of\n"
        "graphs.quant_mlp().transform(tfm.acme.Tag())\nprint(worker_of(tfm.get_info('acme:Tag')).pid, flush=True)\n"
        "graphs.quant_mlp().transform(tfm.acme.Wait())\n"
    )
    root = str(Path(__file__).parents[3])
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    ) as host:
        lines = iter(host.stdout.readline, "")
        pid = next(int(line) for line in lines if line.strip().isdigit())
        host.kill()
    until = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.slow
def test_threads_take_turns_and_a_fork_has_a_worker_of_its_own(acme):
    model, found = graphs.quant_mlp(), {}

    def tag(at):
        found[at] = model.transform(tfm.acme.Tag(f"{at} ")).graph.doc_string

    threads = [threading.Thread(target=tag, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {at: f"{at} {NOTED};" for at in range(4)}
    pid = worker_of(tfm.get_info("acme:Tag")).pid
    child = os.fork()
    if child == 0:
        try:
            tag(9)
            same = worker_of(tfm.get_info("acme:Tag")).pid == pid
            close_workers()
            os._exit(0 if found[9] == f"9 {NOTED};" and not same else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert model.transform(tfm.acme.Tag()).graph.doc_string == f"{NOTED};"
    assert worker_of(tfm.get_info("acme:Tag")).pid == pid


@pytest.mark.slow
@pytest.mark.filterwarnings("default:look here")
def test_one_build_goes_through_two_environments_and_is_reused(both, new_environment):
    graphs.quant_mlp().save(str(both / "m.onnx"))
    text = (
        "hw_compiler:\n  steps:\n    - {transform: acme:Tag, args: {prefix: 'first '}}\n    - {transform: newer:Tag}\n"
        "    - {step: acme:note_clock, args: {suffix: md}}\n    - newer:note_clock\n"
    )
    (both / "b.yaml").write_text(text)

    def run():
        return build(both / "m.onnx", both / "b.yaml", both / "out")

    first = run()
    doc = ModelWrapper(str(first.model)).graph.doc_string
    assert doc == "first numpy 1.26.4, qonnx 0.4.0;numpy 2.4.6, qonnx 1.0.0;"
    assert (both / "out" / "clock.md").read_text() == "10 ns, numpy 1.26.4"
    assert (both / "out" / "clock.txt").read_text() == "10 ns, numpy 2.4.6"
    assert "== Tag\npass 1\nwarning: numpy is 1.26.4\npass 2\n" in (both / "out" / "build.log").read_text()
    assert first.steps[2].messages == ("look here",)
    again = run()
    assert [step.reused for step in again.steps] == [True] * 4
    assert ModelWrapper(str(again.model)).graph.doc_string == doc
    (packages,) = new_environment.glob("lib/*/site-packages")
    (packages / "other-1.0.dist-info").mkdir()
    changed = run()
    (packages / "other-1.0.dist-info").rmdir()
    assert [step.reused for step in changed.steps] == [False] * 4
    assert changed.steps[0].cache == "the sources of environment newer changed"


@pytest.mark.slow
def test_a_worker_that_dies_in_a_build_names_itself_in_the_error_of_the_step(acme):
    graphs.quant_mlp().save(str(acme / "m.onnx"))
    (acme / "b.yaml").write_text("hw_compiler:\n  steps: [{transform: acme:Die}]\n")
    with pytest.raises(BuildError) as caught:
        build(acme / "m.onnx", acme / "b.yaml", acme / "out")
    first, *rest = str(caught.value).splitlines()
    assert first == (
        "step 'Die' failed: the worker of environment 'acme' ended its process by SIGKILL in transform 'acme:Die'; the "
        "next call starts a new one"
    )
    assert rest[:2] == ["  it printed last:", "    the last words"]
