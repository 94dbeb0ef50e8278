"""Export spans from a command, where OpenTelemetry's own variables (`OTEL_TRACES_EXPORTER`) ask for it.

A program that uses this package sets up a provider itself, and so does `opentelemetry-instrument`: then this does nothing.
"""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING

from brainsmith import __version__
from brainsmith.settings import names_trace_service, trace_exporters, trace_protocol

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

_INSTALL = 'pip install "brainsmith[metrics]" opentelemetry-sdk opentelemetry-exporter-otlp-proto-http'
"""All at once, so that pip keeps to what this package says of protobuf."""

_GROUP = "opentelemetry_traces_exporter"
"""The entry points under which distributions offer exporters, by the names that the variable has."""


def export_traces() -> str:
    """Set up a provider with the exporters that the environment names; return why nothing is exported, if so."""
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        return f"OTEL_TRACES_EXPORTER is set, but no spans are exported: OpenTelemetry's SDK is not installed\n  {_INSTALL}"
    from opentelemetry import trace
    from opentelemetry.sdk.resources import ProcessResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from brainsmith.monitoring.tracing import has_provider

    if has_provider():
        return ""
    try:
        exporters = [_exporter(name) for name in trace_exporters()]
    except (LookupError, Exception) as error:  # noqa: BLE001  (an exporter may raise anything; a command goes on without)
        return f"OTEL_TRACES_EXPORTER is set, but no spans are exported: {error}"
    named = {} if names_trace_service() else {"service.name": "brainsmith", "service.version": __version__}
    provider = TracerProvider(resource=Resource.create(named).merge(ProcessResourceDetector().detect()))
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)  # which sends what is left when the process ends
    return ""


def _exporter(name: str) -> SpanExporter:
    """Return an exporter that a distribution offers.

    Raises:
        LookupError: None of this name is installed.
    """
    names = [name]
    if name == "otlp":
        names.append(f"otlp_proto_{'grpc' if trace_protocol() == 'grpc' else 'http'}")
    for offered in metadata.entry_points(group=_GROUP):
        if offered.name in names:
            made: SpanExporter = offered.load()()
            return made
    advice = f"\n  {_INSTALL}" if name == "otlp" else ""
    raise LookupError(f"no exporter {name!r} is installed{advice}")
