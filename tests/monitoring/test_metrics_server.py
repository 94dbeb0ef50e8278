"""`/metrics` of a process: a real server, asked over HTTP."""

import http.client
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError

import pytest

from brainsmith.build import build
from brainsmith.errors import MetricsError
from brainsmith.monitoring import hub_metrics
from brainsmith.monitoring.families import WorkMetrics
from brainsmith.monitoring.metrics_server import MetricsServer
from brainsmith.monitoring.work_span import WorkSpan
from brainsmith.plugin.manager import get_plugin_manager
from tests.build import graphs
from tests.monitoring.exposed import fetch, samples


@pytest.fixture
def server():
    with MetricsServer([WorkMetrics()], "127.0.0.1", 0) as made:
        yield made


def test_a_process_shows_its_work_while_it_goes_on(server):
    step = "brainsmith_step_duration_seconds_count", ("outcome", "ok")
    before = samples(fetch(server.url)).get(step, 0)
    with WorkSpan("step", "here"):
        assert samples(fetch(server.url))["brainsmith_work_in_progress", ("kind", "step")] == 1
    after = samples(fetch(server.url))
    assert after[step] == before + 1
    assert after["brainsmith_work_in_progress", ("kind", "step")] == 0
    assert after["process_resident_memory_bytes",] > 1e6


@pytest.mark.parametrize(
    ("url", "headers", "status", "text"),
    [
        ("/", {}, 404, "the figures are at /metrics\n"),
        ("/metrics/../x", {}, 404, "the figures are at /metrics\n"),
        ("/metrics", {"Host": "evil.example.org"}, 403, "only requests to localhost are served\n"),
    ],
)
def test_what_is_not_served(server, url, headers, status, text):
    with pytest.raises(HTTPError) as caught:
        fetch(server.url.removesuffix("/metrics") + url, **headers)
    assert (caught.value.code, caught.value.read().decode()) == (status, text)
    caught.value.close()


def test_only_get_is_served(server):
    connection = http.client.HTTPConnection(*server.address, timeout=10)
    connection.request("POST", "/metrics", b"{}")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (405, b"only GET is served\n")
    connection.close()


def test_nonsense_and_silence_do_not_keep_others_waiting(server, capsys):
    with socket.create_connection(server.address) as silent, socket.create_connection(server.address) as loud:
        loud.sendall(b"\x00\xff nonsense\r\n\r\n")
        silent.sendall(b"GET /metrics")
        with ThreadPoolExecutor(4) as pool:
            texts = list(pool.map(lambda _: fetch(server.url), range(8)))
    assert all("brainsmith_work_in_progress" in text for text in texts)
    assert capsys.readouterr() == ("", "")


def test_a_closed_server_gives_its_port_back():
    with MetricsServer([], "127.0.0.1", 0) as first:
        port = first.address[1]
    with MetricsServer([], "127.0.0.1", port) as second:
        assert second.url == f"http://127.0.0.1:{port}/metrics"


def test_what_cannot_be_listened_at_is_one_message(server):
    port = server.address[1]
    advice = "choose another port, or 0 for any that is free, and an address of this machine"
    with pytest.raises(MetricsError) as caught:
        MetricsServer([], "127.0.0.1", port)
    assert (
        str(caught.value) == f"metrics cannot be served at 127.0.0.1:{port}: Address already in use; {advice}"
    )
    with pytest.raises(
        MetricsError, match=r"^metrics cannot be served at 192\.0\.2\.1:0: Cannot assign requested"
    ):
        MetricsServer([], "192.0.2.1", 0)
    with pytest.raises(
        MetricsError, match=r"^metrics cannot be served at 127\.0\.0\.1:70000: a port is from 0"
    ):
        MetricsServer([], "127.0.0.1", 70000)


def test_the_manager_serves_the_hub_too():
    with get_plugin_manager().serve_metrics(0) as made:
        found = samples(fetch(made.url))
    assert made.address[0] == "127.0.0.1"
    assert found["brainsmith_plugins", ("framework", "brainsmith"), ("type", "step")] > 5


def patient(model, cfg):
    time.sleep(1)
    return model


@pytest.mark.slow
def test_what_is_looked_at_while_a_step_runs_is_not_read_by_the_step(tmp_path, monkeypatch):
    """A thread that begins meanwhile counts as the step's, and the health check reads files and variables."""
    monkeypatch.setattr(hub_metrics, "HEALTH_SECONDS", 0.0)
    ended, looked = threading.Event(), []

    def read():
        result = build(
            graphs.quant_mlp(), output=tmp_path, steps=["cleanup", patient], verify=False, report=False
        )
        return (
            set(result.outside.files),
            set(result.outside.variables),
            [step.reused for step in result.steps],
        )

    def look():
        while not ended.is_set():
            looked.append(fetch(made.url))

    with get_plugin_manager().serve_metrics(0) as made, ThreadPoolExecutor(1) as pool:
        fetch(made.url)
        scraping = pool.submit(look)
        watched = read()
        ended.set()
        scraping.result(60)
    assert len(looked) > 3
    assert read() == (*watched[:2], [True, True])
    assert "XILINX_VIVADO" not in watched[1]  # which the search for tools asks for


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(MetricsError) as caught:
        get_plugin_manager().serve_metrics(0)
    assert str(caught.value) == 'metrics need prometheus-client: pip install "brainsmith[metrics]"'
