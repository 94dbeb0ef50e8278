"""What client and server agree on: the version, the paths, and how an error is reported."""

from __future__ import annotations

from importlib.util import find_spec

from brainsmith import errors
from brainsmith.errors import BrainsmithError, TargetError
from brainsmith.store.fingerprint import digest

PROTOCOL = "2"
"""The version. Both ends state it with everything that they send."""

PROTOCOL_HEADER = "Brainsmith-Protocol"
"""Where they state it. No web page can have a browser send it to another site."""

JSON = "application/json"
ARRAYS = "application/x-safetensors"
"""The two kinds of body; `wire` says how arrays are sent."""

TARGET = "/target"
MODELS = "/models/"
PREPARE = "/prepare"
EXECUTE = "/execute"
METRICS = "/metrics"
"""For Prometheus, which states no version of this protocol."""

UNKNOWN_MODEL = "unknown-model"
UNKNOWN_PREPARED = "unknown-prepared"
TOKEN = "token"
VERSION = "version"
REFUSED = "refused"

ERRORS: dict[str, type[BrainsmithError]] = {
    kind.__name__: kind
    for kind in (
        errors.BuildError,
        errors.DeviceError,
        errors.InputError,
        errors.ModelError,
        errors.SimulationError,
        errors.SimulationStalledError,
        errors.TargetError,
        errors.ToolError,
        errors.UnsupportedResourceError,
        errors.UsageError,
    )
}
"""The errors that keep their class on the way to the client; any other is a TargetError there."""


class UnknownAtServerError(TargetError):
    """The server has no such model, or nothing prepared under the name; it is to be sent again."""


class RefusedError(BrainsmithError, RuntimeError):
    """A request is not answered with what it asks for.

    Args:
        status: Of HTTP.
        message: What is wrong, and what to do.
        kind: A name that programs can read.
        headers: Further ones.
    """

    def __init__(
        self, status: int, message: str, kind: str = REFUSED, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = headers or {}


def why_not_installed() -> str:
    """Return what is missing of the extra that both ends need, and how it is installed; or nothing."""
    missing = [name for name in ("starlette", "uvicorn", "httpx", "safetensors") if find_spec(name) is None]
    if not missing:
        return ""
    return (
        f"the extra [serve] is not installed ({', '.join(missing)} missing): pip install 'brainsmith[serve]'"
    )


def model_content(data: bytes) -> str:
    """Return what stands for a model on the way: of its bytes alone, so that no file is read for it.

    Equal to `content_of` where a model names no other files; one that does is not sent.
    """
    return digest(data)


def kind_of(error: BrainsmithError) -> str:
    """Return the name of the closest class that the client knows."""
    return next((base.__name__ for base in type(error).__mro__ if base.__name__ in ERRORS), "TargetError")
