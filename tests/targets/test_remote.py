"""The target `remote`: results of the served target bit for bit, from wherever it is said where that is."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import helper

from brainsmith.errors import (
    DeviceError,
    InputError,
    ModelError,
    RemoteError,
    SettingsError,
    TargetError,
    TargetUnavailableError,
    UnsupportedResourceError,
    WireError,
)
from brainsmith.runtime.serving.wire import DTYPES
from brainsmith.targets import Capabilities, Prepared, ResourceManager, list_plugins
from tests.build import graphs
from tests.runtime.serving.served import TOKEN, served
from tests.runtime.toys import toy
from tests.targets.remote_clients import LOCAL, MODEL, X, connected, local, same


@pytest.fixture
def server():
    with served(LOCAL) as made:
        yield made


@pytest.fixture
def manager(server):
    with connected(server.url, timeout=10) as made:
        yield made


@pytest.mark.parametrize(
    "name",
    ["numpy", *(pytest.param(other, marks=pytest.mark.slow) for other in ("onnxruntime", "reference"))],
)
@pytest.mark.slow
def test_results_are_those_of_the_served_target(name):
    for model in (MODEL, graphs.quant_cnn()):
        x = graphs.samples(model, 5)
        with served(name) as server, connected(server.url) as manager:
            prepared = manager.prepare_resource(model)
            assert prepared.signature is not None
            same(manager.execute(prepared, x), local(model, x, name))
            same(manager.execute(prepared, x, keep=None), local(model, x, name, keep=None))


def test_tensors_inside_are_kept(manager):
    prepared = manager.prepare_resource(MODEL)
    everything = manager.execute(prepared, X, keep=None)
    inside = [name for name in everything if name != "m1"]
    same(manager.execute(prepared, X, keep=inside[:2]), local(MODEL, X, keep=inside[:2]))
    same(prepared.target.execute(prepared, X, keep=inside[0]), local(MODEL, X, keep=inside[:1]))
    with pytest.raises(InputError) as error:
        manager.execute(prepared, X, keep=["nothing"])
    assert str(error.value) == f"there is no tensor 'nothing' to keep; the tensors are {', '.join(inside)}"


@pytest.fixture
def mirror():
    """A manager whose target is served, and returns its inputs."""
    toy(
        "Mirror",
        prepare_resource=lambda self, resource, config=None: Prepared(target=self, signature=None, payload=0),
        execute=lambda self, prepared, inputs: dict(inputs),
    )
    with served("mirror") as server, connected(server.url) as made:
        yield made


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.text(max_size=6),
        st.sampled_from(sorted(DTYPES.values())).flatmap(
            lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
        ),
        max_size=3,
    )
)
def test_all_arrays_come_back_as_they_went(mirror, arrays):
    same(mirror.execute(mirror.prepare_resource(MODEL), arrays), arrays)


def test_an_array_for_a_model_of_unknown_inputs_needs_a_name(mirror):
    with pytest.raises(TargetError) as error:
        mirror.execute(mirror.prepare_resource(MODEL), X)
    assert str(error.value) == (
        "target 'remote' failed in execute: the served target does not say what its inputs are, so they must be given "
        "by name"
    )


@pytest.mark.slow
def test_a_model_is_sent_once(server, manager, monkeypatch):
    sent = []
    store = server.service.store
    monkeypatch.setattr(server.service, "store", lambda *given: sent.append(given[0]) or store(*given))
    prepared = manager.prepare_resource(MODEL)
    assert manager.prepare_resource(MODEL.model.SerializeToString(), {"faithful": True}) is not prepared
    with connected(server.url, limit_mb=7) as other:
        same(other.execute(other.prepare_resource(MODEL), X), manager.execute(prepared, X))
    assert len(sent) == 1


@pytest.mark.slow
def test_weights_in_other_files_are_sent_with_the_model(manager, tmp_path):
    file = tmp_path / "m.onnx"
    model = onnx.ModelProto()
    model.CopyFrom(MODEL.model)
    onnx.save(model, file, save_as_external_data=True, location="w.bin", size_threshold=0)
    same(manager.execute(manager.prepare_resource(file), X), local(MODEL, X))


def test_capabilities_are_those_of_the_served_target():
    for wanted in (Capabilities(), Capabilities(True, True, True, True, True, True)):
        toy("Able", get_capabilities=lambda self, wanted=wanted: wanted)
        with served("able") as server, connected(server.url) as manager:
            assert manager.active.get_capabilities() == wanted
            if not wanted.intermediates:
                with pytest.raises(TargetError) as error:
                    manager.execute(manager.prepare_resource(MODEL), [[1.0, 2.0]], keep=None)
                assert str(error.value) == (
                    "target 'remote' cannot return tensors inside the model, so keep= cannot be given: it lacks the "
                    "capability intermediates"
                )
        from brainsmith.targets import get_registry

        get_registry().unregister("able")


def test_device_configuration_and_options_go_through():
    def execute(self, prepared, inputs, *, times=1):
        return {"y": inputs["x"] * np.float32(prepared.payload * times + self.device_id)}

    toy("Many", execute=execute)
    with served("many") as server, connected(server.url, "remote:3") as manager:
        prepared = manager.prepare_resource(MODEL, {"factor": 5.0})
        assert manager.execute(prepared, [[1.0, 2.0]])["y"].tolist() == [[8.0, 16.0]]
        assert manager.execute(prepared, [[1.0, 2.0]], times=2)["y"].tolist() == [[13.0, 26.0]]
        with pytest.raises(TargetError) as error:
            manager.execute(prepared, [[1.0, 2.0]], often=2)
        assert str(error.value) == (
            f"{server.url}: execute of target 'many' takes no keyword 'often'\n  it takes times"
        )
        with pytest.raises(TargetError) as error:
            manager.prepare_resource(MODEL, {"factor": np.ones(2)})
        assert str(error.value) == (
            "target 'remote' failed in prepare_resource: only numbers, strings, lists and dicts can be sent: Object of "
            "type ndarray is not JSON serializable"
        )


def test_a_device_that_is_not_there(server):
    with pytest.raises(DeviceError) as error:
        connected(server.url, "remote:2").__enter__()
    assert str(error.value) == f"target 'remote' has no device 2; 'numpy' at {server.url} has 0"


def test_without_an_address_it_says_what_to_set(monkeypatch):
    (info,) = [info for info in list_plugins(available_only=False) if info.name == "remote"]
    assert (info.available, info.reason) == (
        False,
        "no served target is configured: start one with brainsmith serve-target TARGET, and set BRAINSMITH_REMOTE_URL "
        "(remote_url: in the settings) to the address that it prints",
    )
    with pytest.raises(TargetUnavailableError) as error, ResourceManager({"device": "remote"}):
        pass
    assert str(error.value) == f"target 'remote' cannot be used here: {info.reason}"
    monkeypatch.setenv("BRAINSMITH_REMOTE_URL", "http://127.0.0.1:9")
    assert "remote" in [info.name for info in list_plugins()]


def test_a_token_that_cannot_be_says_which_setting_it_is(monkeypatch, tmp_path, server):
    monkeypatch.setenv("BRAINSMITH_REMOTE_URL", server.url)
    must = (
        'must hold a token of 16 or more letters, digits and signs of ASCII without spaces, such as python -c "import '
        'secrets; print(secrets.token_urlsafe())" prints'
    )
    monkeypatch.setenv("BRAINSMITH_REMOTE_TOKEN", "short")
    with pytest.raises(RemoteError) as error:
        ResourceManager({"device": "remote"}).__enter__()
    assert str(error.value) == f"BRAINSMITH_REMOTE_TOKEN {must}"
    (tmp_path / "token").write_text("short")
    monkeypatch.setenv("BRAINSMITH_REMOTE_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(RemoteError) as error:
        ResourceManager({"device": "remote"}).__enter__()
    assert str(error.value) == f"remote_token_file: the token file {tmp_path / 'token'} {must}"


def test_no_proxy_of_the_environment_is_used(server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with connected(server.url) as manager:
        same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))


def test_it_says_what_answers(server):
    from brainsmith.targets.remote import RemoteTarget

    assert RemoteTarget().describe() == "A target that another process or machine serves, over HTTP"
    with connected(server.url) as manager:
        assert manager.active.describe() == f"numpy at {server.url}, over HTTP"


@pytest.mark.slow
def test_the_settings_say_where_and_with_which_token(monkeypatch, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    with served(LOCAL, token=TOKEN) as server:
        monkeypatch.setenv("BRAINSMITH_REMOTE_URL", f"{server.url}/")
        monkeypatch.setenv("BRAINSMITH_REMOTE_TOKEN_FILE", str(tmp_path / "token"))
        with ResourceManager({"device": "remote"}) as manager:
            same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"url": "ftp://there"},
            "SettingsError: argument remote_url: remote_url must be http://HOST:PORT or https://HOST:PORT of a served "
            "target, such as http://127.0.0.1:8765, not 'ftp://there'",
        ),
        (
            {"url": "http://127.0.0.1:1", "timeout": 0},
            "SettingsError: argument remote_timeout: remote_timeout must be a number of seconds above 0, not 0",
        ),
        (
            {"url": "http://127.0.0.1:1", "token": "short"},
            "SettingsError: token= of the target remote must hold a token",
        ),
    ],
)
def test_arguments_that_cannot_be(arguments, message):
    with pytest.raises(TargetError) as error:
        connected(**arguments).__enter__()
    assert str(error.value).startswith(f"target 'remote' cannot be made: {message}")


ADDRESSES = {
    "http://there": "http://there",
    "https://there": "https://there",
    "http://u:p@there:1": "http://***@there:1",
    "http://u:p//@q@there:1": "http://***@there:1",
    "u:p@there:1": "***@there:1",
    "http://there:1/x": "http://there:1/x",
    "there:1": "there:1",
    "http://there:99999": "http://there:99999",
}
"""What cannot be an address, and how it is told: without a password."""


@pytest.mark.parametrize("url", ADDRESSES)
def test_addresses_that_cannot_be(url, monkeypatch):
    from brainsmith.settings import load_settings

    monkeypatch.setenv("BRAINSMITH_REMOTE_URL", url)
    with pytest.raises(SettingsError) as error:
        load_settings()
    assert str(error.value) == (
        "BRAINSMITH_REMOTE_URL: remote_url must be http://HOST:PORT or https://HOST:PORT of a served target, such as "
        "http://127.0.0.1:8765, "
        f"not {ADDRESSES[url]!r}"
    )


def test_a_model_that_is_none_and_one_that_does_more(manager):
    with pytest.raises(TargetError) as error:
        manager.prepare_resource(b"no model")
    assert "the data that was sent is not an ONNX model" in str(error.value)
    evil = onnx.ModelProto()
    evil.CopyFrom(MODEL.model)
    evil.graph.node[0].domain = "subprocess"
    with pytest.raises(TargetError) as error:
        manager.prepare_resource(evil)
    assert isinstance(error.value.__cause__, ModelError)
    assert "is of domain 'subprocess', which is not executed for clients" in str(error.value)
    with pytest.raises(UnsupportedResourceError) as error:
        manager.prepare_resource("nowhere.onnx")
    assert str(error.value) == "target 'remote' cannot execute nowhere.onnx: there is no file nowhere.onnx"
    same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))


def test_a_model_in_several_files_is_refused_before_it_is_sent(manager, tmp_path):
    inner = tmp_path / "inner.onnx"
    onnx.save(MODEL.model, inner)
    whole = onnx.ModelProto()
    whole.CopyFrom(MODEL.model)
    del whole.graph.node[:], whole.graph.initializer[:]
    whole.graph.node.append(
        helper.make_node(
            "GenericPartition", ["x"], ["m1"], domain="qonnx.custom_op.general", model=str(inner)
        )
    )
    onnx.save(whole, tmp_path / "whole.onnx")
    for resource in (str(tmp_path / "whole.onnx"), whole.SerializeToString(), whole):
        with pytest.raises(UnsupportedResourceError) as error:
            manager.prepare_resource(resource)
        assert str(error.value).endswith(
            f": its dataflow partitions are models in files of this machine ({inner}), which are not sent with it: "
            "execute it on a target of this machine"
        )
    same(manager.execute(manager.prepare_resource(MODEL), X), local(MODEL, X))


def test_a_folder_runs_where_the_server_has_it_too(tmp_path):
    class Reads:
        def __call__(self, target, resource, config=None):
            with open(f"{resource}/factor") as file:
                return Prepared(target=target, signature=None, payload=float(file.read()))

    reads = Reads()
    toy(
        "Folder",
        prepare_resource=lambda self, resource, config=None: reads(self, resource),
        execute=lambda self, prepared, inputs: {"y": inputs["x"] * prepared.payload},
    )
    for name, factor in (("theirs", "3"), ("ours", "3"), ("other", "4")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "factor").write_text(factor)
    with served("folder", folders=[str(tmp_path / "theirs")]) as server, connected(server.url) as manager:
        prepared = manager.prepare_resource(tmp_path / "ours")
        assert manager.execute(prepared, {"x": np.ones(2)})["y"].tolist() == [3, 3]
        other = tmp_path / "other"
        with pytest.raises(UnsupportedResourceError) as error:
            manager.prepare_resource(other)
        assert str(error.value) == (
            f"target 'remote' cannot execute {other}: the server does not have the folder {other}, and a folder is never "
            "sent, because it holds programs: start it with --build DIR, where DIR is a copy of it"
        )


def test_auto_asks_before_it_chooses_it_for_a_folder(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    with served(LOCAL) as server:
        monkeypatch.setenv("BRAINSMITH_REMOTE_URL", server.url)
        with ResourceManager() as manager, pytest.raises(UnsupportedResourceError) as error:
            manager.prepare_resource(tmp_path / "empty")
    assert "\n  remote: the server does not have the folder " in str(error.value)
    monkeypatch.setenv("BRAINSMITH_REMOTE_URL", "http://127.0.0.1:9")
    with ResourceManager() as manager, pytest.raises(UnsupportedResourceError) as error:
        manager.prepare_resource(tmp_path / "empty")
    assert "\n  remote: no target is served at http://127.0.0.1:9: " in str(error.value)


@pytest.mark.slow
def test_two_clients_in_many_threads():
    models = [graphs.quant_mlp(seed=seed) for seed in (1, 2)]
    expected = [local(model, X) for model in models]
    with (
        served(LOCAL, requests=3) as server,
        connected(server.url, timeout=20) as one,
        connected(server.url, timeout=21) as two,
        ThreadPoolExecutor(6) as threads,
    ):
        clients = [
            (manager, manager.prepare_resource(model))
            for manager, model in zip((one, two), models, strict=True)
        ]
        assert one.active is not two.active

        def ask(number):
            manager, prepared = clients[number % 2]
            same(manager.execute(prepared, X), expected[number % 2])

        list(threads.map(ask, range(120)))
        assert one.profiles()["remote:0"].executes == 60
        assert len(server._state.connections) <= 12


@pytest.mark.slow
def test_nothing_is_left_open(server):
    with connected(server.url) as manager:
        manager.prepare_resource(MODEL)
        assert len(server._state.connections) == 1
    for _ in range(100):
        if not server._state.connections:
            break
        time.sleep(0.02)
    assert not server._state.connections


def test_wire_errors_are_of_the_family():
    assert issubclass(WireError, ValueError)
    assert issubclass(RemoteError, TargetError)
