"""Spans of commands are exported where OpenTelemetry's own variables ask for it, by the exporters that are installed."""

import json
import sys

import pytest

from brainsmith.cli.main import main
from brainsmith.settings import names_trace_service, trace_exporters, trace_protocol
from tests.cli.command import brainsmith

NOT_EXPORTED = "warning: OTEL_TRACES_EXPORTER is set, but no spans are exported: "


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in (
        "OTEL_SDK_DISABLED",
        "OTEL_SERVICE_NAME",
        "OTEL_RESOURCE_ATTRIBUTES",
        "OTEL_TRACES_EXPORTER",
    ):
        monkeypatch.delenv(name, raising=False)


def decoded(text):
    """The JSON documents in a text that has them one after the other."""
    found, rest = [], text.lstrip()
    while rest.startswith("{"):
        value, end = json.JSONDecoder().raw_decode(rest)
        found.append(value)
        rest = rest[end:].lstrip()
    return found


@pytest.mark.slow
def test_a_command_exports_what_it_did(tmp_path):
    done = brainsmith("stats", "--json", cwd=tmp_path, OTEL_TRACES_EXPORTER="console")
    assert done.returncode == 0
    assert json.loads(done.stdout)["plugin_count"] > 400  # a document for programs has no spans in it
    spans = decoded(done.stderr)
    assert [span["name"] for span in spans if span["parent_id"] is None] == ["discovery"]
    resource = spans[0]["resource"]["attributes"]
    assert (resource["service.name"], resource["service.version"]) == ("brainsmith", "0.1.0")
    assert resource["process.pid"] > 1


@pytest.mark.slow
def test_who_names_the_service_is_right(tmp_path):
    done = brainsmith(
        "stats", "--json", cwd=tmp_path, OTEL_TRACES_EXPORTER="console", OTEL_SERVICE_NAME="nightly"
    )
    assert decoded(done.stderr)[0]["resource"]["attributes"]["service.name"] == "nightly"


def test_an_exporter_that_is_missing_is_a_warning(monkeypatch, capsys):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "acme")
    assert main(["stats"]) == 0
    assert capsys.readouterr().err == f"{NOT_EXPORTED}no exporter 'acme' is installed\n"


def test_without_an_sdk_there_is_a_warning(monkeypatch, capsys):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    assert main(["stats"]) == 0
    assert capsys.readouterr().err == (
        f"{NOT_EXPORTED}OpenTelemetry's SDK is not installed\n"
        '  pip install "brainsmith[metrics]" opentelemetry-sdk opentelemetry-exporter-otlp-proto-http\n'
    )


@pytest.mark.parametrize(
    ("named", "disabled", "exporters"),
    [
        ("", "", ()),
        ("none", "", ()),
        ("otlp", "", ("otlp",)),
        ("otlp, console,none,", "", ("otlp", "console")),
        ("otlp", "True", ()),
        ("otlp", "false", ("otlp",)),
    ],
)
def test_which_exporters_are_asked_for(named, disabled, exporters, monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", named)
    monkeypatch.setenv("OTEL_SDK_DISABLED", disabled)
    assert trace_exporters() == exporters


def test_how_the_exporter_speaks_and_what_the_process_is_called(monkeypatch):
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_PROTOCOL", raising=False)
    assert (trace_protocol(), names_trace_service()) == ("http/protobuf", False)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert trace_protocol() == "grpc"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=a,service.name=nightly")
    assert (trace_protocol(), names_trace_service()) == ("http/protobuf", True)
