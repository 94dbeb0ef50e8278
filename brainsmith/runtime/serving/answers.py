"""What a server's answers must be to be believed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from brainsmith.errors import WireError
from brainsmith.runtime.capabilities import Capabilities

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.execution.signature import ModelSignature
    from brainsmith.runtime.serving.wire import Array


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
    def of(cls, said: Mapping[str, Any]) -> Served:
        """Return what an answer says.

        Raises:
            WireError: It says nothing of a target.
        """
        try:
            plain, ids = said["capabilities"], said["device_ids"]
            known = [one.name for one in fields(Capabilities)]
            return cls(
                str(said["name"]),
                Capabilities(**{name: plain[name] is True for name in known if name in plain}),
                None if ids is None else tuple(ids),
                float(said["megabytes"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise WireError(f"no description of its target ({error!r})") from error


def prepared_of(said: Mapping[str, Any]) -> tuple[str, ModelSignature | None]:
    """Return the name of what was prepared, and its inputs and outputs, if the target states them.

    Raises:
        WireError: The answer says nothing of it.
    """
    from brainsmith.execution.signature import ModelSignature

    try:
        plain = said["signature"]
        return str(said["prepared"]), None if plain is None else ModelSignature.from_plain(plain)
    except (KeyError, TypeError, ValueError) as error:
        raise WireError(f"no prepared resource ({error!r})") from error


def check_outputs(
    name: str, signature: ModelSignature, outputs: Mapping[str, Array], runs: int, keep: Iterable[str] | None
) -> None:
    """Refuse outputs that are not those of a model.

    Args:
        name: The served target's.
        signature: The model's.
        outputs: By name.
        runs: How many the inputs held.
        keep: The further tensors that were asked for; None for all.

    Raises:
        WireError: One is missing, is not as the signature states it, or was not asked for.
    """
    from brainsmith.runtime.outputs import wrong_outputs

    if wrong := wrong_outputs(signature, outputs, runs, keep):
        raise WireError(f"its target '{name}' must {wrong}")
