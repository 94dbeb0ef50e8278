"""What a server's answers must be to be believed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from brainsmith.errors import WireError
from brainsmith.runtime.capabilities import Capabilities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.execution.signature import ModelSignature


@dataclass(frozen=True)
class Served:
    """What a server says of its target.

    Attributes:
        name: The target's.
        capabilities: What it promises; of those that both ends know.
        device_ids: The devices that it has; None if it does not say.
        megabytes: The largest request that is taken.
    """

    name: str
    capabilities: Capabilities
    device_ids: tuple[int, ...] | None
    megabytes: float

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Served:
        """Return what an answer says.

        Raises:
            WireError: It says nothing of a target.
        """
        try:
            plain, ids = answer["capabilities"], answer["device_ids"]
            known = [one.name for one in fields(Capabilities)]
            return cls(
                str(answer["name"]),
                Capabilities(**{name: plain[name] is True for name in known if name in plain}),
                None if ids is None else tuple(ids),
                float(answer["megabytes"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise WireError(f"no description of its target ({error!r})") from error


def prepared_of(answer: Mapping[str, Any]) -> tuple[str, ModelSignature | None]:
    """Return the name of what was prepared, and its inputs and outputs, if the target states them.

    Raises:
        WireError: The answer says nothing of it.
    """
    from brainsmith.execution.signature import ModelSignature

    try:
        plain = answer["signature"]
        return str(answer["prepared"]), None if plain is None else ModelSignature.from_plain(plain)
    except (KeyError, TypeError, ValueError) as error:
        raise WireError(f"no prepared resource ({error!r})") from error
