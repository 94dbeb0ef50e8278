"""What client and server agree on: the version, the paths, and how an error is reported."""

from __future__ import annotations

import hashlib

from brainsmith import errors
from brainsmith.errors import BrainsmithError
from brainsmith.runtime.file_facts import DIGEST_BYTES

PROTOCOL = "1"
"""The version. Both ends state it with everything that they send."""

PROTOCOL_HEADER = "Brainsmith-Protocol"
"""Where they state it. No web page can have a browser send it to another site."""

JSON = "application/json"
FRAME = "application/x-brainsmith-frame"
"""The two kinds of body; `wire` says what a frame is."""

TARGET = "/target"
MODELS = "/models/"
PREPARE = "/prepare"
EXECUTE = "/execute"

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


def model_content(data: bytes) -> str:
    """Return what stands for a model on the way: of its bytes alone, so that nobody reads a file for it.

    Equal to `content_of` where a model names no other files; one that does is not sent.
    """
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


def kind_of(error: BrainsmithError) -> str:
    """Return the name of the closest class that the client knows."""
    return next((base.__name__ for base in type(error).__mro__ if base.__name__ in ERRORS), "TargetError")
