"""The dashboard for Grafana that shows all figures: a file beside this one."""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).with_name("grafana_dashboard.json")


def dashboard_text() -> str:
    """Return it, as Grafana imports it."""
    return FILE.read_text("utf-8")
