"""`/metrics` of a served target: what it counts, who may see it, and that it costs the target nothing."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.runtime.resource_content import content_of
from brainsmith.runtime.serving.served_counts import ServedCounts, route_of
from brainsmith.targets import ResourceManager
from tests.build import graphs
from tests.monitoring.exposed import fetch, samples
from tests.runtime.serving.served import TOKEN, ask, served

MODEL = graphs.quant_mlp()
DATA = MODEL.model.SerializeToString()
REQUESTS, REFUSALS = "brainsmith_served_requests_total", "brainsmith_served_refusals_total"
SECONDS = "brainsmith_served_request_duration_seconds_count"
KNOWN = {"/target", "/models", "/prepare", "/execute", "/metrics", "other"}


def figures(server, **headers):
    return samples(fetch(f"{server.url}/metrics", **headers))


def requests(found, name=REQUESTS):
    """The counts of requests, without the target's name."""
    return {
        tuple(value for label, value in key[1:] if label != "target"): count
        for key, count in found.items()
        if key[0] == name
    }


@pytest.mark.slow
def test_requests_are_counted_by_route_and_status(monkeypatch):
    with served("numpy") as server:
        monkeypatch.setenv("BRAINSMITH_REMOTE_URL", server.url)
        with ResourceManager({"device": "remote"}) as manager:
            prepared = manager.prepare_resource(MODEL)
            for _ in range(3):
                manager.execute(prepared, graphs.samples(MODEL))
        ask(server, "POST", "/prepare", {"content": content_of(DATA), "device_id": -1, "config": {}})
        ask(server, "GET", "/nothing/here")
        found = figures(server)
    counts = requests(found)
    assert counts["/execute", "200"] == 3
    assert counts["/prepare", "200"] == 1
    assert counts["/prepare", "422"] == 1
    assert counts["other", "404"] == 1
    assert {(route, "") for route, _ in counts} <= {(route, "") for route in KNOWN}
    assert requests(found, REFUSALS) == {("DeviceError", "422"): 1, ("refused", "404"): 1} | {
        key: count for key, count in requests(found, REFUSALS).items() if key == ("unknown-model", "404")
    }
    assert found[SECONDS, ("route", "/execute"), ("target", "numpy")] == 3
    assert found["brainsmith_served_requests_in_progress", ("target", "numpy")] == 1  # this one itself
    assert found["brainsmith_plugins", ("framework", "brainsmith"), ("type", "target")] > 3


def test_the_token_is_needed_as_for_all_routes():
    with served("numpy", token=TOKEN) as server:
        assert ask(server, "GET", "/metrics")[0] == 401
        assert ask(server, "GET", "/metrics", Authorization="Bearer wrong")[0] == 401
        found = figures(server, Authorization=f"Bearer {TOKEN}")
    assert requests(found, REFUSALS) == {("token", "401"): 2}


def test_without_a_token_only_this_machine_is_answered():
    with served("numpy") as server:
        status, _, said = ask(server, "GET", "/metrics", Host="evil.example.org")
        assert (status, said["message"]) == (403, "without a token only requests to localhost are served")


def test_prometheus_states_no_version_and_others_must():
    with served("numpy") as server:
        assert "brainsmith_info" in fetch(f"{server.url}/metrics")
        assert ask(server, "GET", "/target", Brainsmith_Protocol=None)[0] == 400
        assert ask(server, "POST", "/metrics", {}, Brainsmith_Protocol=None)[0] == 405
        assert requests(figures(server), REFUSALS)["version", "400"] == 1


def test_without_prometheus_client_the_target_is_served(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with served("numpy") as server:
        status, _, said = ask(server, "GET", "/metrics")
        message = 'metrics need prometheus-client at the server: pip install "brainsmith[metrics]"'
        assert (status, said["message"]) == (501, message)
        assert ask(server, "GET", "/target")[0] == 200


def test_a_busy_server_shows_its_figures(monkeypatch):
    """Its places are for work alone."""
    with served("numpy", requests=1) as server:
        monkeypatch.setenv("BRAINSMITH_REMOTE_URL", server.url)
        with ResourceManager({"device": "remote"}) as manager:
            prepared = manager.prepare_resource(MODEL)
            manager.execute(prepared, np.zeros((1, 6), np.float32))
            loop = server._loop
            import asyncio

            asyncio.run_coroutine_threadsafe(server.application._places.acquire(), loop).result(10)
            assert "brainsmith_served_requests_total" in fetch(f"{server.url}/metrics")
            loop.call_soon_threadsafe(server.application._places.release)


@given(st.lists(st.tuples(st.text(), st.integers(0, 599), st.floats(0, 100))))
def test_whatever_clients_ask_for_routes_are_few(asked):
    counts = ServedCounts("numpy")
    for path, status, _ in asked:
        request = counts.begun(f"/{path}")
        request.status = status
        request.end()
    families = {family.name: family for family in counts.collect()}
    found = families["brainsmith_served_requests"].samples
    assert sum(sample.value for sample in found) == len(asked)
    assert {sample.labels["route"] for sample in found} <= KNOWN
    assert families["brainsmith_served_requests_in_progress"].samples[0].value == 0


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/models/3f", "/models"),
        ("/models/../x", "/models"),
        ("/execute", "/execute"),
        ("/execute/", "other"),
    ],
)
def test_a_route_is_what_a_path_asks_for(path, route):
    assert route_of(path) == route
