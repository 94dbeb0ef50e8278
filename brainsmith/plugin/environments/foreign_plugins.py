"""What stands here for a plugin of another environment: a class or function that is made of its record.

Calling it has the worker of the environment do it. It is the one exception to the rule that the door gives the real
object: that cannot be imported into this process.
"""

from __future__ import annotations

import itertools
import weakref
from inspect import Parameter, Signature

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginArgumentsError, PluginEnvironmentError, PluginLoadError
from brainsmith.plugin.environments import worker_wire
from brainsmith.plugin.environments.environment_worker import worker_of
from brainsmith.plugin.environments.foreign_ops import op_class
from brainsmith.plugin.environments.place import read_environment
from brainsmith.plugin.environments.worker_failure import failure
from brainsmith.plugin.trust import refuse_untrusted
from brainsmith.settings import load_settings

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

_NUMBERS = itertools.count(1)
_STEP_PARAMETERS = 2
"""A step is called with model and cfg; its arguments come after them."""


def foreign_object(info: PluginInfo) -> Any:
    """Return what stands for a plugin of another environment; nothing is started yet.

    Raises:
        UntrustedPluginError: The environment is not trusted.
        PluginEnvironmentError: The settings do not name it; a record alone decides of no program that is started.
    """
    refuse_untrusted(info)
    settings, name = load_settings(), info.extra["environment"]
    known = read_environment(name, settings) if name in settings.environments else None
    if known is None or (known.root, known.python) != (info.extra["folder"], info.extra["python"]):
        raise PluginEnvironmentError(
            f"{info.type} {info.qualified!r} is of environment {name!r} ({info.extra['folder']}), "
            "which the settings do not name"
        )
    if info.type == "op":
        return op_class(info)
    return _transform_class(info) if info.type == "transform" else _step_function(info)


def _transform_class(info: PluginInfo) -> type:
    from qonnx.transformation.base import Transformation  # the framework costs more than the hub

    def __init__(self: Any, *args: Any, **named: Any) -> None:  # noqa: N807
        Transformation.__init__(self)
        _signature(info).bind(*args, **named)
        self._number = next(_NUMBERS)
        self._request = _encoded(info, args, named)
        weakref.finalize(self, worker_of(info).forget, self._number).atexit = False

    def apply(self: Any, model: Any) -> tuple[Any, bool]:
        """Have the environment's worker apply the transform."""
        return _called(info, self._request, self._number, model, None)

    return type(
        info.name,
        (Transformation,),
        {
            "__doc__": info.docstring or info.description,
            "__module__": info.module,
            "__signature__": _signature(info),
            "__init__": __init__,
            "apply": apply,
        },
    )


def _step_function(info: PluginInfo) -> Any:
    def step(model: Any, cfg: Any, *args: Any, **named: Any) -> Any:
        _signature(info).bind(model, cfg, *args, **named)
        return _called(info, _encoded(info, args, named), 0, model, cfg)[0]

    step.__name__ = step.__qualname__ = info.name
    step.__doc__ = info.docstring or info.description
    step.__module__ = info.module
    step.__signature__ = _signature(info)  # type: ignore[attr-defined]
    return step


class _Text(str):
    """The text of a default, which is shown as it is written there."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _signature(info: PluginInfo) -> Signature:
    """Return the signature as the source states it; one that takes anything where it cannot be read."""
    anything = [Parameter("args", Parameter.VAR_POSITIONAL), Parameter("named", Parameter.VAR_KEYWORD)]
    try:
        stated = info.parameters
    except PluginLoadError:
        return Signature(anything)
    found = []
    only_by_name = False
    for one in stated:
        name = one.name.lstrip("*")
        kind: Any
        if one.name.startswith("**"):
            kind = Parameter.VAR_KEYWORD
        elif one.name.startswith("*"):
            kind, only_by_name = Parameter.VAR_POSITIONAL, True
        else:
            kind = (
                Parameter.KEYWORD_ONLY
                if one.keyword_only or only_by_name
                else Parameter.POSITIONAL_OR_KEYWORD
            )
        default = Parameter.empty if one.required or one.name.startswith("*") else _Text(one.default)
        found.append(Parameter(name, kind, default=default))
    try:
        return Signature(found)
    except ValueError:
        return Signature(anything)


def _encoded(
    info: PluginInfo, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[dict[str, Any], list[bytes]]:
    """Return a request without its model; the first blob is that.

    Raises:
        PluginArgumentsError: An argument cannot be passed.
    """
    blobs = [b""]
    values: dict[str, list[Any]] = {}
    for name, value in [*((str(at), value) for at, value in enumerate(args, 1)), *named.items()]:
        try:
            values[name] = [worker_wire.encode(value, blobs)]
        except worker_wire.UnsendableError as error:
            raise PluginArgumentsError(
                f"argument {name} of {info.type} {info.qualified!r} holds a value of type {error}, which cannot be "
                f"passed to environment {info.extra['environment']!r}: numbers, texts, bytes, paths, arrays, and "
                "lists, tuples and dicts of these can"
            ) from None
    header = {
        "type": info.type,
        "module": info.import_name,
        "name": info.reference.partition(":")[2],
        "args": [values[str(at)][0] for at in range(1, len(args) + 1)],
        "named": {"dict": [[name, values[name][0]] for name in named]},
    }
    return header, blobs


def _called(
    info: PluginInfo, request: tuple[dict[str, Any], list[bytes]], number: int, model: Any, cfg: Any
) -> tuple[Any, bool]:
    """Have the worker call a plugin; return the model and whether it says that it modified it."""
    header, blobs = request
    data = model.model.SerializeToString()
    answer, out = worker_of(info).call(
        info,
        {**header, "number": number},
        [data, *blobs[1:]],
        lambda asked: _answer_cfg(cfg, asked),
    )
    if answer["kind"] == "failed":
        raise failure(info, answer)
    if not out:
        return model, answer["modified"]
    from onnx import ModelProto  # whoever has a model has it
    from qonnx.core.modelwrapper import ModelWrapper  # so too

    proto = ModelProto()
    proto.ParseFromString(out[0])
    return ModelWrapper(proto), answer["modified"]


def _answer_cfg(cfg: Any, asked: tuple[dict[str, Any], list[bytes]]) -> tuple[dict[str, Any], list[bytes]]:
    """Answer what a step asks of `cfg`: it is the build's own, so what is read of it is noted as of any step."""
    header, blobs = asked
    do, name = header["do"], header["name"]
    out: list[bytes] = []
    try:
        if do == "set":
            setattr(cfg, name, worker_wire.decode(header["value"], blobs))
            return {"kind": "value"}, out
        value = getattr(cfg, name)
        if do == "call":
            value = value(
                *worker_wire.decode(header["args"], blobs), **worker_wire.decode(header["named"], blobs)
            )
        elif callable(value):
            return {"kind": "method"}, out
        return {"kind": "value", "value": worker_wire.encode(value, out)}, out
    except worker_wire.UnsendableError as error:
        text = f"cfg.{name} holds a value of type {error}, which cannot be passed to another environment"
        return {"kind": "refused", "text": text}, []
    except Exception as error:  # noqa: BLE001  (it is raised in the step that asked)
        kind = "missing" if isinstance(error, AttributeError) else "refused"
        return {"kind": kind, "text": str(error)}, []
