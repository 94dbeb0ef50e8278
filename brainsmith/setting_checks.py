"""What each setting may be. Imported only where one is set: the defaults need no check."""

from __future__ import annotations

import os

from brainsmith import MODES, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TRUST = ("installed", "listed", "off")
"""Which plugins may be imported: what is installed, what the user has listed, or all."""
CACHE_MODES = ("read-write", "read-only")
"""What may be done with a shared cache."""

_PATHS = ("plugin_folders", "remote_token_file", "remote_verify")


def of_text(name: str, text: str) -> object:
    """Return the value of a setting that a variable of the environment states: a number or a switch where it is one."""
    read = _TEXTS.get(CHECKS[name][1])
    return text if read is None else read(text)


def checked(name: str, value: object, folder: str) -> object:
    """Return the value of a setting as it holds: paths absolute, numbers as floats, lists as tuples.

    Args:
        name: The setting.
        value: As it was read.
        folder: Where relative paths begin.

    Raises:
        ValueError: There is no such setting, or it cannot have this value; the text says why.
    """
    if name not in CHECKS:
        from brainsmith.close_names import did_you_mean

        hint = did_you_mean(name, CHECKS) or f"; the settings are {', '.join(CHECKS)}"
        raise ValueError(f"there is no setting {name!r}{hint}")
    wanted, convert = CHECKS[name]
    try:
        converted = convert(value)
    except _ParticularError:
        raise
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {wanted}, not {_shown(name, value)}") from None
    if name == "environments":
        return {key: {**one, "python": _at(one["python"], folder)} for key, one in converted.items()}
    if name not in _PATHS or isinstance(converted, bool):
        return converted
    if isinstance(converted, str):
        return _absolute(converted, folder)
    return tuple(_absolute(path, folder) for path in converted)


def _absolute(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


def _at(path: str, folder: str) -> str:
    return _absolute(path, folder) if path else ""


def _shown(name: str, value: object) -> str:
    """Return a value for a message: of an address no name and password, since messages are kept and sent around."""
    if name not in ("remote_url", "shared_cache") or not isinstance(value, str) or "@" not in value:
        return repr(value)
    before, _, host = value.rpartition("@")
    scheme, slashes, _ = before.partition("//")
    return repr(f"{scheme}//***@{host}" if slashes else f"***@{host}")


_SWITCHES = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def _boolean(text: str) -> object:
    return _SWITCHES.get(text.strip().lower(), text)


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _as_seconds(value: object, least: float = 0.0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < float("inf"):
        raise ValueError
    return float(value)


def _as_time_limit(value: object) -> float:
    return _as_seconds(value, least=5e-324)


def _as_url(value: object) -> str:
    """Return the address of a served target, as `http://HOST:PORT` or `https://HOST:PORT`."""
    from urllib.parse import urlsplit

    text = _as_text(value).rstrip("/")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port is None or "@" in text:
        raise ValueError
    if parts.path or parts.query or parts.fragment:
        raise ValueError
    return text


def _as_shared_cache(value: object) -> str:
    """Return the address of a shared cache: that of a Redis server is looked at, all others are fsspec's."""
    text = _as_text(value)
    scheme, slashes, place = text.partition("://")
    if not slashes or not scheme or not place or scheme == "rediss":
        raise ValueError
    if scheme == "redis":
        from brainsmith.store.shared.redis_server import RedisServer

        RedisServer(text)
    if scheme in ("file", "local") and not place.startswith(("/", "~")):
        raise ValueError  # fsspec would begin it in the current folder, so that each command had another one
    return text


def _as_cache_mode(value: object) -> str:
    if value not in CACHE_MODES:
        raise ValueError
    return str(value)


def _as_mode(value: object) -> str:
    if value not in MODES:
        raise ValueError
    return str(value)


def _as_trust(value: object) -> str:
    if value is False:  # `off` is a switch in YAML
        return "off"
    if value not in TRUST:
        raise ValueError
    return str(value)


def _as_boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _as_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError
    return value.strip()


def _as_text_or_boolean(value: object) -> str | bool:
    return value if isinstance(value, bool) else _as_text(value)


def _as_strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise TypeError
    return tuple(value)


def as_groups(value: object) -> dict[str, tuple[str, ...]]:
    """Return named groups of plugins: members by name.

    Raises:
        TypeError: It is no table of lists of texts.
    """
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise TypeError
    return {name: _as_strings(members) for name, members in value.items()}


_RESERVED = ("brainsmith", "project", "qonnx", "finn")
"""Frameworks whose names no environment can have."""


class _ParticularError(ValueError):
    """What is wrong with values in a table of settings.

    Attributes:
        texts: All of a message for each.
    """

    def __init__(self, *texts: str) -> None:
        super().__init__("; ".join(texts))
        self.texts = texts


def as_environments(value: object) -> dict[str, dict[str, Any]]:
    """Return other Python environments by name, each with `python`, `requirements` and `time_limit`.

    Raises:
        TypeError: It is no table.
        ValueError: A name cannot be that of a framework, or what is stated of it is wrong; the text says what.
    """
    if not isinstance(value, dict):
        raise TypeError
    found: dict[str, dict[str, Any]] = {}
    wrong: list[str] = []
    for name, stated in value.items():
        try:
            found[name] = _as_environment(name, stated)
        except _ParticularError as error:
            wrong += error.texts
    if wrong:
        raise _ParticularError(*wrong)
    return found


def _as_environment(name: object, stated: object) -> dict[str, Any]:
    plain = isinstance(name, str) and name.replace("-", "_").isidentifier() and name == name.lower()
    if not plain:
        raise _ParticularError(
            f"environments: {name!r} is no name of an environment: these are in lower case, such as acme"
        )
    if name in _RESERVED:
        raise _ParticularError(f"environments: {name!r} is the name of a framework: choose another one")
    where = f"environments.{name}"
    stated = {"requirements": stated} if isinstance(stated, list | tuple) else stated
    if not isinstance(stated, dict):
        raise _ParticularError(
            f"{where} must be a table with python, or a list of requirements, not {stated!r}"
        )
    unknown = [key for key in stated if key not in _ENVIRONMENT]
    if unknown:
        from brainsmith.close_names import did_you_mean

        hint = did_you_mean(str(unknown[0]), _ENVIRONMENT) or f"; the keys are {', '.join(_ENVIRONMENT)}"
        raise _ParticularError(f"{where} has no key {unknown[0]!r}{hint}")
    if ("python" in stated) == ("requirements" in stated):
        raise _ParticularError(f"{where} must have either python or requirements")
    for key, one in stated.items():
        wanted, convert = _ENVIRONMENT[key]
        try:
            stated = {**stated, key: convert(one)}
        except (TypeError, ValueError):
            raise _ParticularError(f"{where}.{key} must be {wanted}, not {one!r}") from None
    return {"python": "", "requirements": (), "time_limit": 0.0, **stated}


def _as_requirements(value: object) -> tuple[str, ...]:
    found = _as_strings(value)
    if any(
        not one.strip() or one.strip().startswith("-") for one in found
    ):  # pip would take it for an option
        raise ValueError
    return found


_ENVIRONMENT: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "python": ("the folder of a virtual environment, or an interpreter", _as_text),
    "requirements": (
        "a list of requirements such as [numpy==1.26.4, ./acme], without options",
        _as_requirements,
    ),
    "time_limit": ("a number of seconds above 0", _as_time_limit),
}
"""What may be stated of an environment."""

CHECKS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "cache_ttl": ("a number of seconds, 0 or more", _as_seconds),
    "discovery_mode": (" or ".join(MODES), _as_mode),
    "frameworks": ("a list of frameworks such as [qonnx, finn]", _as_strings),
    "performance_tracking": ("true or false", _as_boolean),
    "debug": ("true or false", _as_boolean),
    "dynamic_loading": ("true or false", _as_boolean),
    "device": ("a device such as auto, cpu or rtlsim:0", _as_text),
    "verbose": ("true or false", _as_boolean),
    "remote_url": (
        "http://HOST:PORT or https://HOST:PORT of a served target, such as http://127.0.0.1:8765",
        _as_url,
    ),
    "remote_token_file": ("the path of a file", _as_text),
    "remote_timeout": ("a number of seconds above 0", _as_time_limit),
    "remote_verify": ("true, false or the path of a file", _as_text_or_boolean),
    "shared_cache": (
        "redis://HOST:PORT, or an address of fsspec with ://, such as file:///mnt/cache (three slashes) or "
        "s3://bucket/folder; rediss:// (TLS) is not supported",
        _as_shared_cache,
    ),
    "shared_cache_mode": (" or ".join(CACHE_MODES), _as_cache_mode),
    "shared_cache_timeout": ("a number of seconds above 0", _as_time_limit),
    "plugin_folders": ("a list of folders", _as_strings),
    "trust": (" or ".join(TRUST), _as_trust),
    "trust_models": ("true or false", _as_boolean),
    "groups": ("a table of lists of plugin names", as_groups),
    "environments": (
        "a table such as {acme: {python: /path/to/venv}}",
        as_environments,
    ),
}
"""By name: what it must be, and what converts it or raises TypeError or ValueError."""

_TEXTS: dict[Callable[..., Any], Callable[[str], object]] = {
    _as_seconds: _number,
    _as_time_limit: _number,
    _as_boolean: _boolean,
    _as_text_or_boolean: _boolean,
}
"""How the text of a variable is read, by what converts the setting's value; as a text by default."""
