"""What a target makes of a resource, ready to be executed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainsmith.execution.signature import ModelSignature
    from brainsmith.runtime.target import Target


@dataclass(frozen=True, kw_only=True, eq=False, slots=True, weakref_slot=True)
class Prepared:
    """A resource that a target has prepared: a frozen value that its target executes any number of times.

    A target makes it of the first three; the runtime adds the rest.

    Attributes:
        target: Which executes it.
        signature: Inputs and outputs; None if the target does not state them; inputs are then passed on unchecked.
        payload: The target's own. If it has a method `close`, that is called once: when it is not used any more, or
            when the target is cleaned up.
        key: Stands for the resource's content, the target, its arguments (the device among them) and the configuration.
        resource: What was prepared, for people: a path, or what kind of object.
        bare: Whether the target returned something else than this class, and executes just that: `payload`.
    """

    target: Target
    signature: ModelSignature | None
    payload: Any = field(repr=False)  # often a whole program
    key: str = ""
    resource: str = ""
    bare: bool = False
