"""What is known of targets that are held and of what they prepared, as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from brainsmith.runtime.live_target import live_target_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.runtime.live_target import LiveTarget
    from brainsmith.runtime.prepared import Prepared


def describe_prepared(prepared: Prepared) -> dict[str, Any]:
    """Return `resource`, `key`, `target`, `device_id`, `ready`, and `inputs` and `outputs` where they are known."""
    live = live_target_of(prepared.target)
    plain = prepared.signature.to_plain() if prepared.signature else {"inputs": None, "outputs": None}
    return {
        "resource": prepared.resource,
        "key": prepared.key,
        "target": live.name if live else type(prepared.target).__name__,
        "device_id": live.device_id if live else None,
        "ready": live is not None and live.is_ready,
        **plain,
    }


def describe_target(live: LiveTarget) -> dict[str, Any]:
    """Return `name`, `device_id`, `capabilities` and `resources`."""
    return {
        "name": live.name,
        "device_id": live.device_id,
        "capabilities": asdict(live.capabilities),
        "resources": [describe_prepared(prepared) for prepared in live.prepared.all()],
    }


def describe_held(active: LiveTarget | None, automatic: bool, held: Iterable[LiveTarget]) -> dict[str, Any]:
    """Return what a manager holds as plain values.

    Args:
        active: The target that is active.
        automatic: Whether it is chosen for each resource.
        held: All.
    """
    return {
        "active": active.name if active else None,
        "device_id": active.device_id if active else None,
        "automatic": automatic,
        "targets": [describe_target(live) for live in held],
    }
