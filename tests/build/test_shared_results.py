"""Results of steps in a shared cache: taken where they hold, and never what could run."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import helper

from brainsmith.build.artifact import Artifact
from brainsmith.build.cache import BuildCache, Outcome
from brainsmith.build.config import StepConfig
from brainsmith.build.keys import PARTS as NAMES
from brainsmith.build.messages import Said
from brainsmith.build.portable_parts import PortableParts
from brainsmith.build.result_transfer import pull_results, push_results
from brainsmith.build.shared_results import META, MODEL, SharedResults, check_files
from brainsmith.build.side_files import SideChanges
from brainsmith.settings import load_settings
from brainsmith.store.reads import Reads
from brainsmith.store.shared.packed_folder import packed, unpacked
from brainsmith.store.shared.shared_cache import HERE, THERE, SharedCache
from tests.build import graphs
from tests.store.shared.redis_servers import needs_redis, redis_server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARTS = {
    **dict.fromkeys(NAMES, ""),
    "step": "brainsmith:fold",
    "frameworks": '{"onnx": "1"}',
    "plugins": "{}",
    "model": "m",
}
CONFIG = StepConfig(target_fps=1000)
READS = {"target_fps": "1000"}
SIDE = SideChanges({"report/estimates.json": b"{}"})


@pytest.fixture
def model():
    return Artifact.of(graphs.quant_mlp())


@pytest.fixture
def url(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return f"memory://{tmp_path}"


def shared_at(url, **more):
    return SharedResults(SharedCache(url, limit=20, **more), PortableParts(load_settings()))


@pytest.fixture
def make(url, tmp_path):
    """Make a build cache of its own that shares its results."""
    made = []

    def cache(**more):
        made.append(BuildCache(tmp_path / f"cache{len(made)}", shared=shared_at(url, **more)))
        return made[-1]

    return cache


def test_what_one_has_made_another_one_takes(make, model):
    one, other = make(), make()
    made = {"model": "a/mlp.onnx", "blueprint": "b.yaml", "output": "/secret/out"}
    one.store(PARTS, Outcome(model, READS, Reads(), SIDE, Said([("stdout", "said\n")]), made, 3.5))
    assert other.find(PARTS, CONFIG).model is None
    one.share()
    found = other.find(PARTS, CONFIG)
    assert found.model.data == model.data
    assert (found.side["files"], found.said.texts, found.seconds) == (
        ["report/estimates.json"],
        [("stdout", "said\n")],
        3.5,
    )
    assert (found.folder / "files" / "report" / "estimates.json").read_bytes() == b"{}"
    assert found.reason.startswith("nothing that it depends on changed; key ")
    assert found.reason.endswith("by the build of mlp.onnx with b.yaml")
    other._shared.cache.hits = 0
    assert other.find(PARTS, CONFIG).model is not None
    assert other._shared.cache.hits == 0


def test_of_several_entries_of_a_key_the_one_that_agrees_is_taken(make, model):
    one = make()
    second = Artifact.of(graphs.quant_mlp(seed=1))
    one.store(PARTS, Outcome(model, READS))
    one.store(PARTS, Outcome(second, {"target_fps": "2000"}))
    one.share()
    assert make().find(PARTS, CONFIG).model.data == model.data
    assert make().find(PARTS, StepConfig(target_fps=2000)).model.data == second.data
    assert make().find(PARTS, StepConfig(target_fps=3000)).model is None


def test_what_a_step_read_elsewhere_must_be_as_it_was(make, model, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("1")
    one = make()
    reads = Reads({str(file): "not what it has"})
    one.store(PARTS, Outcome(model, READS, reads))
    one.share()
    assert make().find(PARTS, CONFIG).model is None


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ({"side": SideChanges({"code/top.cpp": b"int main;"})}, "'code/top.cpp' may not be shared"),
        ({"side": SideChanges({"a.json": b"\x7fELF\0"})}, "'a.json' may not be shared"),
        (
            {"side": SideChanges({"a.txt": b""}, executable=("a.txt",))},
            "it holds links or files that may be run, or removes files",
        ),
        (
            {"side": SideChanges(links={"a": "b"})},
            "it holds links or files that may be run, or removes files",
        ),
        ({"said": Said([("stdout", "\x1b[2J")])}, "what its step printed holds control characters"),
        ({"said": Said([("stdout", "in HERE")])}, "it names HERE"),
        ({"reads": {"board_path": "HERE/x"}}, "it names HERE"),
        ({"outside": Reads({"HERE/x.csv": "1"})}, "it names HERE"),
    ],
)
def test_what_may_not_be_shared_stays(make, model, outcome, why, tmp_path):
    here = str(tmp_path / "here")

    def local(value):
        if isinstance(value, Said):
            return Said([(stream, text.replace("HERE", here)) for stream, text in value.texts])
        if isinstance(value, Reads):
            return Reads({name.replace("HERE", here): known for name, known in value.files.items()})
        if isinstance(value, dict):
            return {name: text.replace("HERE", here) for name, text in value.items()}
        return value

    cache = make()
    fields = {"model": model, "reads": READS, **{name: local(value) for name, value in outcome.items()}}
    cache.store(PARTS, Outcome(**fields))
    (key,) = cache.entry_keys()
    assert cache.offer(key, cache._shared).startswith(why.replace("HERE", here))
    assert cache._shared.cache.keys("builds") == []


def with_attribute(name, value):
    wrapper = graphs.quant_mlp()
    wrapper.graph.node[0].attribute.append(helper.make_attribute(name, value))
    return wrapper.model


def external():
    wrapper = graphs.quant_mlp()
    tensor = wrapper.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../etc/passwd")
    return wrapper.model


def of_python():
    wrapper = graphs.quant_mlp()
    annotation = onnx.TensorAnnotation(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(
        key="tensor_layout", value="__import__('os').system('touch x')"
    )
    wrapper.graph.quantization_annotation.append(annotation)
    return wrapper.model


def of_module():
    wrapper = graphs.quant_mlp()
    wrapper.graph.node[0].domain = "antigravity"
    return wrapper.model


def of_metadata():
    wrapper = graphs.quant_mlp()
    wrapper.set_metadata_prop("vivado_stitch_proj", "/tmp/x")
    return wrapper.model


MODELS = {
    "a library": with_attribute("rtlsim_so", "out/report/x.json"),
    "a program": with_attribute("executable_path", "x"),
    "generated code": with_attribute("code_gen_dir_cppsim", "x"),
    "another model": with_attribute("model", "x.onnx"),
    "any path": with_attribute("anything", "a/b"),
    "paths in a list": with_attribute("anything", ["a", "b\\c"]),
    "values in a file": external(),
    "a layout in Python": of_python(),
    "a module": of_module(),
    "a project": of_metadata(),
}


def files_of(model=None, **meta):
    stated = {
        "format": 6,
        "parts": {"step": "x"},
        "reads": {},
        "outside": {"files": {}, "folders": {}, "variables": {}},
        "side": {"files": [], "executable": [], "links": {}, "folders": [], "removed": []},
        "printed": [],
        "made": {},
        "seconds": None,
        "time": 0.0,
        **meta,
    }
    data = graphs.quant_mlp().model.SerializeToString() if model is None else model
    return {MODEL: data, META: json.dumps(stated).encode()}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_that_names_or_runs_something_is_refused(model, monkeypatch):
    monkeypatch.setenv(
        "BRAINSMITH_TRUST_MODELS", "1"
    )  # the user trusts models of their own choice, and not these
    check_files(files_of())
    with pytest.raises(ValueError):
        check_files(files_of(model.SerializeToString()))


def side(**more):
    return {"side": {"files": [], "executable": [], "links": {}, "folders": [], "removed": [], **more}}


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        (side(links={"a": "/etc/passwd"}), "it holds links or files that may be run, or removes files"),
        (side(executable=["a"]), "it holds links or files that may be run, or removes files"),
        (side(files=["../x.json"]), "its files are not those that it states"),
        (side(folders=["../x"]), "it changes what a step may not"),
        (side(folders=["/tmp/x"]), "it changes what a step may not"),
        (side(removed=["../../important"]), "it holds links or files that may be run, or removes files"),
        (side(removed=["checkpoints"]), "it holds links or files that may be run, or removes files"),
        (side(removed=["model.onnx"]), "it holds links or files that may be run, or removes files"),
        (side(folders=[7]), "it changes what a step may not"),
        ({"side": 7}, "what it states about itself has another form"),
        ({"printed": [["stdout", "\x1b]0;x\x07"]]}, "what its step printed holds control characters"),
        ({"printed": [["shell", "x"]]}, "what its step printed holds control characters"),
        ({"printed": [7]}, "what it states about itself has another form"),
        ({"reads": {"x": 7}}, "what it states about itself has another form"),
        ({"outside": {}}, "what it states about itself has another form"),
        ({"time": "now"}, "what it states about itself has another form"),
        (side(folders=["checkpoints"]), "it changes what a step may not"),
        ({"made": {"model": "\x1b[2J"}}, "the names of what it was made from hold control characters"),
        (
            {"outside": {"files": {}, "folders": {"\0": "1"}, "variables": {}}},
            "what it states about itself has another form",
        ),
        (
            {"outside": {"files": {}, "folders": {}, "variables": {"\ud800": "1"}}},
            "what it states about itself has another form",
        ),
        ({"time": float("inf")}, "what it states about itself has another form"),
        ({"time": float("nan")}, "what it states about itself has another form"),
        ({"seconds": -1}, "what it states about itself has another form"),
        ({"seconds": "long"}, "what it states about itself has another form"),
        ({"format": None}, "what it states about itself has another form"),
    ],
)
def test_a_hostile_statement_is_refused(meta, said):
    with pytest.raises(ValueError) as caught:
        check_files(files_of(**meta))
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"files/x.py": b""},
            "'x.py' may not be shared: a file must be text and end with .json, .txt, .csv, .dat, .hex, .mem",
        ),
        (
            {"files/x.json": b"\0"},
            "'x.json' may not be shared: a file must be text and end with .json, .txt, .csv, .dat, .hex, .mem",
        ),
        ({"other.json": b"{}"}, "it holds a file that no step writes"),
        ({"files/x.json": b"{}"}, "its files are not those that it states"),
        ({MODEL: b"garbage"}, "its model cannot be read as ONNX"),
        ({META: b"garbage"}, "what it states about itself cannot be read as JSON"),
        ({META: b"[" * 100_000}, "what it states about itself cannot be read as JSON"),
        ({META: b"7"}, "what it states about itself has another form"),
    ],
)
def test_hostile_files_are_refused(more, said):
    with pytest.raises(ValueError) as caught:
        check_files({**files_of(), **more})
    assert str(caught.value) == said


def test_an_entry_without_a_model_is_refused():
    with pytest.raises(ValueError, match=r"^it holds no model$"):
        check_files({META: b"{}"})


def tampered(shared, change):
    """Change the files of the only entry in a shared cache, with a digest that is right."""
    (place,) = [key for key in shared.cache.keys("builds") if not key.endswith("-index")]
    files = unpacked(shared.cache.read("builds", place))
    change(files)
    shared.cache.write("builds", place, packed(files))


@pytest.mark.parametrize(
    "change",
    [
        lambda files: files.update({MODEL: MODELS["a library"].SerializeToString()}),
        lambda files: files.update({"files/run.sh": b"touch x"}),
        lambda files: files.update({META: files[META].replace(b'"m"', b'"n"')}),
        lambda files: files.pop(MODEL),
    ],
)
def test_an_entry_with_the_right_digest_that_is_not_what_it_may_be_is_a_miss(make, model, change, caplog):
    one, other = make(), make()
    one.store(PARTS, Outcome(model, READS))
    one.share()
    tampered(one._shared, change)
    assert other.find(PARTS, CONFIG).model is None
    assert other._shared.cache.refused == 1
    assert [" is not used: " in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.parametrize(
    "index",
    [
        b"garbage",
        b"7",
        b"[7]",
        b'[["../x", {}, {"files": {}, "folders": {}, "variables": {}}]]',
        b'[["ab", {"x": 7}, {"files": {}, "folders": {}, "variables": {}}]]',
        b'[["ab", {}, {}]]',
        b'[["ab", {}, {"files": {}, "folders": {"\\u0000": "1"}, "variables": {}}]]',
        b"[" * 100_000,
        json.dumps([["a", {}, {"files": {}, "folders": {}, "variables": {}}]] * 17).encode(),
    ],
)
def test_a_hostile_index_is_a_miss(make, model, index):
    one, other = make(), make()
    one.store(PARTS, Outcome(model, READS))
    one.share()
    (place,) = [key for key in one._shared.cache.keys("builds") if key.endswith("-index")]
    one._shared.cache.write("builds", place, index)
    assert other.find(PARTS, CONFIG).model is None
    assert other._shared.cache.refused == 1


def test_what_is_only_read_is_not_written(make, model):
    cache = make(read_only=True)
    cache.store(PARTS, Outcome(model, READS))
    cache.share()
    assert cache._shared.cache.keys("builds") == []


def test_push_and_pull_say_what_they_leave(make, url, model):
    here = {"plugins": "{}", "frameworks": '{"onnx": "1"}'}
    one, other = make(), make()
    one._shared = None
    one.store(PARTS, Outcome(model, READS, side=SIDE))
    one.store({**PARTS, "model": "n"}, Outcome(model, READS, side=SideChanges({"a.v": b"module a;"})))
    shared = shared_at(url)
    assert sorted(push_results(one, shared)) == [
        "",
        "'a.v' may not be shared: a file must be text and end with .json, .txt, .csv, .dat, .hex, .mem",
    ]
    assert THERE in list(push_results(one, shared))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("brainsmith.build.result_transfer.framework_versions", lambda: {"onnx": "2"})
        assert list(pull_results(other, shared, [])) == [
            "it is of other plugins or frameworks, or of another kind of machine"
        ]
        patch.setattr(
            "brainsmith.build.result_transfer.framework_versions", lambda: json.loads(here["frameworks"])
        )
        assert list(pull_results(other, shared, [])) == [""]
        assert list(pull_results(other, shared, [])) == [HERE]
    other._shared = None
    assert other.find(PARTS, CONFIG).model.data == model.data
    tampered(shared, lambda files: files.pop(MODEL))
    assert list(pull_results(other, shared, [])) == ["it is damaged, or holds what may not be shared"]


STEP = '''
from brainsmith import step
from brainsmith.plugins import transforms  # as `brainsmith new step` writes it


@step
def my_step(model, cfg):
    """Change nothing."""
    print("it ran")
    return model
'''
BLUEPRINT = """
hw_compiler:
  target: {part: xczu7ev-ffvc1156-2-e, clock: 200 MHz, fps: 1000}
  steps: [cleanup, my_step, integer]
"""
BUILD = """
import sys
from brainsmith.build import build
result = build("mlp.onnx", "b.yaml", "out", report=False)
print(*(step.reused for step in result.steps))
print(open("out/model.onnx", "rb").read().hex())
"""


def build(folder, home, url, **variables):
    """Build in a fresh process with a home of its own; return what was reused, the model, and what was warned."""
    environment = {
        **os.environ,
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "BRAINSMITH_SHARED_CACHE": url,
        "BRAINSMITH_SHARED_CACHE_TIMEOUT": "5",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-c", BUILD],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    *_, reused, model = done.stdout.splitlines()
    return reused, model, done.stderr


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    (folder / ".brainsmith").mkdir(parents=True)
    (folder / "plugins").mkdir()
    (folder / "plugins" / "my_step.py").write_text(STEP)
    (folder / "b.yaml").write_text(BLUEPRINT)
    graphs.quant_mlp().save(str(folder / "mlp.onnx"))
    return folder


@needs_redis
@pytest.mark.slow
def test_homes_checkouts_and_languages_share_results_on_redis(checkout, tmp_path):
    copy = tmp_path / "deep" / "another checkout"
    shutil.copytree(checkout, copy, copy_function=shutil.copyfile)
    with redis_server() as server:
        first = build(checkout, tmp_path / "one", server.url, LC_ALL="C")
        second = build(checkout, tmp_path / "two", server.url, LC_ALL="C.UTF-8")
        third = build(copy, tmp_path / "three", server.url, LC_ALL="de_DE.UTF-8")
        (copy / "plugins" / "my_step.py").write_text(STEP.replace("it ran", "it ran again"))
        fourth = build(copy, tmp_path / "four", server.url)
    assert first[0] == "False False False"
    assert second[0] == third[0] == "True True True"
    assert fourth[0] == "False False False"
    assert first[1] == second[1] == third[1]


@needs_redis
@pytest.mark.slow
def test_a_server_full_of_garbage_or_gone_changes_no_build(checkout, tmp_path):
    with redis_server() as server:
        first = build(checkout, tmp_path / "one", server.url)
        cache = SharedCache(server.url, limit=10)
        from brainsmith.store.shared.deadline import Deadline
        from brainsmith.store.shared.redis_server import RedisServer
        from brainsmith.store.shared.shared_cache import place_of

        raw = RedisServer(server.url)
        for kind in ("builds", "discovery"):
            for key in cache.keys(kind):
                raw.put(place_of(kind, key), bytes(np.random.default_rng(1).bytes(500)), Deadline(10))
        garbage = build(checkout, tmp_path / "two", server.url)
        url = server.url
    gone = build(checkout, tmp_path / "three", url)
    assert garbage[:2] == gone[:2] == first[:2]
    assert garbage[2].count(" is not used: it is not an entry of this key") == 1
    assert (
        gone[2].count(f"the shared cache {url} cannot be used: it cannot be reached: Connection refused") == 1
    )


KILLER = STEP.replace(
    'print("it ran")', 'import os, signal\n    os.kill(int(open(os.environ["WHOM"]).read()), signal.SIGKILL)'
)


@needs_redis
@pytest.mark.slow
def test_a_server_that_is_killed_while_a_build_runs_costs_one_warning(checkout, tmp_path):
    (checkout / "plugins" / "my_step.py").write_text(KILLER)
    with redis_server() as server:
        (tmp_path / "whom").write_text(str(server.process.pid))
        reused, _, said = build(checkout, tmp_path / "one", server.url, WHOM=str(tmp_path / "whom"))
        assert server.process.wait(timeout=10) < 0
    assert reused == "False False False"
    assert said.count(f"the shared cache {server.url} cannot be used: ") == 1
