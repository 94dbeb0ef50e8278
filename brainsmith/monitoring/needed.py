"""Whether what the extra `[metrics]` brings is there."""

from __future__ import annotations

from importlib.util import find_spec

from brainsmith.errors import MetricsError

INSTALL = 'pip install "brainsmith[metrics]"'


def has_prometheus() -> bool:
    """Return whether prometheus-client is installed."""
    return find_spec("prometheus_client") is not None


def require_prometheus() -> None:
    """Refuse to go on without prometheus-client.

    Raises:
        MetricsError: It is not installed.
    """
    if not has_prometheus():
        raise MetricsError(f"metrics need prometheus-client: {INSTALL}")
