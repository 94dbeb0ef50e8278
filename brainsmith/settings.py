"""The settings, and the only place that reads the environment.

An argument wins over the environment, the environment over the project's `.brainsmith/config.yaml`, that over the
user's `brainsmith/config.yaml` in `$XDG_CONFIG_HOME`, and that over the defaults. A *project* is the nearest folder
upwards that has a `.brainsmith` folder in it.
"""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem, SettingsError
from brainsmith.store.files import read_bytes, working_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

PROJECT_FOLDER = ".brainsmith"
"""The folder that makes its parent a project."""


class Settings:
    """The settings of one process: a value.

    Attributes:
        cache_ttl: Seconds after which a discovery is done again whatever the files' times say.
        discovery_mode: `full`, `blueprint` or `selective`: what is discovered by default.
        frameworks: The adapters that are used; None for all.
        performance_tracking: Whether times are measured.
        debug: Whether the logger `brainsmith.plugin` writes every step to stderr.
        dynamic_loading: Whether bundles may be loaded at run time.
        device: What executes models unless stated otherwise: `auto`, a target or a device type, with `:id` or without.
        verbose: Whether the logger `brainsmith.targets` writes what it does to stderr.
        remote_url: Where the target `remote` is served; None where it is not used.
        remote_token_file: The file with the token for it; absolute. None where the environment has it, or there is none.
        remote_timeout: The seconds that it may take for one answer.
        remote_verify: Whether its certificate must be one that this machine trusts; or the file of the one that is trusted,
            absolute.
        shared_cache: The address of the cache that several machines share; None where there is none.
        shared_cache_mode: `read-write`, or `read-only`: nothing is written to it.
        shared_cache_timeout: The seconds that it may take for one answer.
        plugin_folders: Folders that are scanned besides the project's `plugins`; absolute.
        trust: Which plugins may be imported: `installed` (what is installed, and folders of this user), `listed` (what the
            user listed as trusted), or `off` (all).
        trust_models: Whether models may be opened that run code when they are.
        groups: Named sets of plugins: members by name.
        environments: Other Python environments by name, each with `python` (a virtual environment or an interpreter,
            absolute; empty where it is made of requirements), `requirements`, and `time_limit` (seconds; 0 for any).
        project: The project's folder; None outside a project.
        cache_dir: Where all caches live.
        overlooked_folders: Folders that are called as if plugins were read from them, and are not read.
        files: The configuration files that were looked for, in the order of their precedence.
        sources: Where each setting that is not a default comes from.
    """

    cache_ttl: float = 300.0
    discovery_mode: str = "full"
    frameworks: tuple[str, ...] | None = None
    performance_tracking: bool = True
    debug: bool = False
    dynamic_loading: bool = True
    device: str = "auto"
    verbose: bool = False
    remote_url: str | None = None
    remote_token_file: str | None = None
    remote_timeout: float = 60.0
    remote_verify: str | bool = True
    shared_cache: str | None = None
    shared_cache_mode: str = "read-write"
    shared_cache_timeout: float = 0.04
    plugin_folders: tuple[str, ...] = ()
    trust: str = "installed"
    trust_models: bool = False
    groups: dict[str, tuple[str, ...]]
    environments: dict[str, dict[str, Any]]
    project: str | None = None
    cache_dir: str = ""
    overlooked_folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    sources: dict[str, str]

    def __init__(self) -> None:
        self.groups, self.sources, self.environments = {}, {}, {}

    def key(self) -> tuple[Any, ...]:
        """Return what of the settings decides what a discovery finds."""
        groups = tuple(sorted(self.groups.items()))
        found = (self.frameworks, self.plugin_folders, groups, self.project, self.overlooked_folders)
        return (*found, self.trust, repr(sorted(self.environments.items())))


def load_settings(start: str | None = None, **arguments: Any) -> Settings:
    """Read the settings that hold for a folder.

    Args:
        start: Where the search for the project begins; the current folder by default.
        **arguments: Settings by name; they override everything else.

    Raises:
        SettingsError: A value cannot be used; all of them are named, each with its place.
    """
    settings = Settings()
    settings.cache_dir = cache_dir()
    settings.project = find_project(start)
    settings.files = _config_files(settings.project)
    problems: list[Problem] = []
    for path in reversed(settings.files):
        for name, (value, line, column) in _read_config(path, settings.cache_dir, problems).items():
            _set(settings, name, value, (path, line, column), problems)
    _set_variables(settings, problems)
    for name, value in arguments.items():
        if value is not None:
            _set(settings, name, value, (f"argument {name}", 0, 0), problems)
    if problems:
        raise SettingsError("\n".join(str(problem) for problem in problems))
    settings.overlooked_folders = _overlooked_folders(start, settings)
    return settings


def _overlooked_folders(start: str | None, settings: Settings) -> tuple[str, ...]:
    """Return what lies in the project or the current folder and is called as plugin folders are, or nearly so."""
    here = start or working_folder()
    here = here and os.path.abspath(here)
    likely = [os.path.join(settings.project, "plugin")] if settings.project else []
    if here and here != settings.project:
        likely += [os.path.join(here, "plugins"), os.path.join(here, "plugin")]
    return tuple(
        folder for folder in likely if folder not in settings.plugin_folders and os.path.isdir(folder)
    )


def cache_dir() -> str:
    """Return the folder of all caches: `$XDG_CACHE_HOME/brainsmith`, or `~/.cache/brainsmith`.

    Raises:
        SettingsError: Its name holds what Verilator cannot take in one; for `$HOME` it puts that variable's value.
    """
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.join(_home(), ".cache")
    wrong = next(
        (letter for letter in folder if letter in '"\\$\x7f' or letter < " " or _is_no_text(letter)), ""
    )
    if wrong:
        source = "XDG_CACHE_HOME" if os.environ.get("XDG_CACHE_HOME") else "the home folder"
        raise SettingsError(
            f"{source}: simulations cannot be compiled in the cache folder {folder!r}, "
            f"because its name holds {wrong!r}\n"
            '  set XDG_CACHE_HOME to a folder without quotes ("), backslashes, $, control characters, and bytes that '
            "are not UTF-8"
        )
    return os.path.join(folder, "brainsmith")


def _is_no_text(letter: str) -> bool:
    """Return whether a letter stands for a byte of a file's name that is not UTF-8."""
    return "\udc80" <= letter <= "\udcff"


def find_project(start: str | None = None) -> str | None:
    """Return the nearest folder, from one upwards, that has a `.brainsmith` folder; None if there is none."""
    folder = start or working_folder()
    if not folder:
        return None
    folder = os.path.abspath(folder)
    while True:
        if os.path.isdir(os.path.join(folder, PROJECT_FOLDER)):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def is_completing() -> bool:
    """Return whether the shell asks for completions of a command line."""
    return "_ARGCOMPLETE" in os.environ


def wants_colour(is_terminal: bool) -> bool:
    """Return whether output may be coloured (https://no-color.org)."""
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def op_threads() -> str:
    """Return how many threads a compiled op may use, as `BRAINSMITH_OP_THREADS` says it; empty where it is not set."""
    return os.environ.get("BRAINSMITH_OP_THREADS", "")


def remote_token() -> str:
    """Return the token that client and server of a target share, as `BRAINSMITH_REMOTE_TOKEN` says it; empty if unset."""
    return os.environ.get("BRAINSMITH_REMOTE_TOKEN", "")


def qonnx_rounding() -> tuple[str, str]:
    """Return what QONNX reads of the environment: whether tensors are checked against their datatypes, and how closely."""
    return os.environ.get("SANITIZE_QUANT_TENSORS", "1"), os.environ.get("ERROR_THRESH", "0.01")


def search_path() -> str:
    """Return `PATH`."""
    return os.environ.get("PATH", os.defpath)


def environment_with(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child process that has some variables besides this process's."""
    return {**os.environ, **variables}


def vivado_folder() -> str | None:
    """Return the folder of an installed Vivado, as its own settings script states it."""
    return os.environ.get("XILINX_VIVADO") or None


def finn_settings_file() -> str:
    """Return the file in which FINN+ looks for its settings; it need not exist."""
    return os.environ.get("FINN_SETTINGS") or os.path.join(_home(), ".finn", "settings.yaml")


def trust_models_here() -> Callable[[], None]:
    """Let this process, and those that it starts, open models that run code; return what ends that."""
    before = os.environ.get(_TRUST_MODELS)
    os.environ[_TRUST_MODELS] = "1"

    def end() -> None:
        if before is None:
            del os.environ[_TRUST_MODELS]
        else:
            os.environ[_TRUST_MODELS] = before

    return end


def user_folder() -> str:
    """Return the folder of the user's own files: `$XDG_CONFIG_HOME/brainsmith`, or `~/.config/brainsmith`."""
    return os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(_home(), ".config"), "brainsmith")


def environments_folder() -> str:
    """Return where `brainsmith env create` makes environments: below `$XDG_DATA_HOME`, or `~/.local/share`."""
    folder = os.environ.get("XDG_DATA_HOME") or os.path.join(_home(), ".local", "share")
    return os.path.join(folder, "brainsmith", "environments")


def user_before_sudo() -> int | None:
    """Return the number of the user who called `sudo`; None if nobody did."""
    number = os.environ.get("SUDO_UID", "")
    return int(number) if number.isdecimal() else None


def trace_exporters() -> tuple[str, ...]:
    """Return the exporters of spans that `OTEL_TRACES_EXPORTER` names; none where `OTEL_SDK_DISABLED` is true."""
    named = os.environ.get("OTEL_TRACES_EXPORTER", "")
    if not named or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ()
    return tuple(name for name in map(str.strip, named.split(",")) if name not in ("", "none"))


def trace_protocol() -> str:
    """Return how the exporter `otlp` speaks to its collector, as OpenTelemetry's own variables say it."""
    names = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    return next(filter(None, map(os.environ.get, names)), "http/protobuf")


def names_trace_service() -> bool:
    """Return whether OpenTelemetry's own variables say what this process is called in traces."""
    return bool(os.environ.get("OTEL_SERVICE_NAME")) or "service.name=" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )


def compiled_folders() -> tuple[str, ...]:
    """Return where this user's simulations are compiled: the cache folder, and FINN's folder where it is elsewhere."""
    return tuple(filter(None, (cache_dir(), os.environ.get("FINN_BUILD_DIR"))))


def set_default_variable(name: str, value: str) -> str:
    """Set a variable that a framework reads, unless the user has set it; return what holds."""
    return os.environ.setdefault(name, value)


def _home() -> str:
    return os.path.expanduser("~")


def _config_files(project: str | None) -> tuple[str, ...]:
    files = [os.path.join(user_folder(), "config.yaml")]
    if project is not None:
        files.insert(0, os.path.join(project, PROJECT_FOLDER, "config.yaml"))
    return tuple(files)


_TRUST_MODELS = "BRAINSMITH_TRUST_MODELS"
_VARIABLES = (
    ("BRAINSMITH_PLUGIN_CACHE_TTL", "cache_ttl"),
    ("BRAINSMITH_PLUGIN_MODE", "discovery_mode"),
    ("BRAINSMITH_PLUGIN_DEBUG", "debug"),
    ("BRAINSMITH_DYNAMIC_LOADING", "dynamic_loading"),
    ("BRAINSMITH_DEVICE", "device"),
    ("BRAINSMITH_VERBOSE", "verbose"),
    ("BRAINSMITH_REMOTE_URL", "remote_url"),
    ("BRAINSMITH_REMOTE_TOKEN_FILE", "remote_token_file"),
    ("BRAINSMITH_REMOTE_TIMEOUT", "remote_timeout"),
    ("BRAINSMITH_REMOTE_VERIFY", "remote_verify"),
    ("BRAINSMITH_TRUST", "trust"),
    (_TRUST_MODELS, "trust_models"),
    ("BRAINSMITH_SHARED_CACHE", "shared_cache"),
    ("BRAINSMITH_SHARED_CACHE_MODE", "shared_cache_mode"),
    ("BRAINSMITH_SHARED_CACHE_TIMEOUT", "shared_cache_timeout"),
)
_NOT_A_PROJECTS = ("trust", "trust_models")
"""What a project cannot decide of itself: who runs BrainSmith does."""


def _set_variables(settings: Settings, problems: list[Problem]) -> None:
    """Set what the environment states; an empty variable states nothing."""
    for variable, name in _VARIABLES:
        text = os.environ.get(variable)
        if text:
            from brainsmith.setting_checks import of_text

            _set(settings, name, of_text(name, text), (variable, 0, 0), problems)


def _set(
    settings: Settings, name: str, value: object, place: tuple[str, int, int], problems: list[Problem]
) -> None:
    """Check one value and set it."""
    from brainsmith.setting_checks import checked

    if name in _NOT_A_PROJECTS and os.path.isfile(place[0]):
        from brainsmith.store.safety import why_untrusted  # where somebody decides what is trusted

        if reason := why_untrusted(place[0]):
            problems.append(
                Problem(*place, f"{name} is not read from a file that {reason}: make it yours alone")
            )
            return
    if name in _NOT_A_PROJECTS and settings.project and place[0] == settings.files[0]:
        text = f"{name} is not for a project to decide: set it in {settings.files[-1]}, or by BRAINSMITH_{name.upper()}"
        problems.append(Problem(*place, text))
        return
    try:
        setattr(settings, name, checked(name, value, _base_folder(place[0], settings)))
    except ValueError as error:  # of a table it may be several
        problems.extend(Problem(*place, text) for text in getattr(error, "texts", (str(error),)))
    else:
        settings.sources[name] = place[0]


def _base_folder(source: str, settings: Settings) -> str:
    """Return where a relative path begins: the project, the folder of the user's file, or the current folder."""
    if source in settings.files:
        folder = os.path.dirname(source)
        return os.path.dirname(folder) if os.path.basename(folder) == PROJECT_FOLDER else folder
    return working_folder() or os.sep


def _read_config(path: str, caches: str, problems: list[Problem]) -> dict[str, tuple[Any, int, int]]:
    """Return the values under `plugin_system` with their places; kept by path and content, so yaml is rarely needed."""
    if not os.path.exists(path):
        return {}
    from brainsmith.store.values import Kept

    kept = Kept(caches, "settings", path)
    try:
        content = read_bytes(path)
    except OSError:  # reading it says so
        content = b""
    plain = kept.load(content)
    if plain is None:
        from brainsmith.config_file import read_config_file

        found_before = len(problems)
        plain = read_config_file(path, problems)
        if len(problems) == found_before and content:
            from brainsmith.store.fingerprint import digest

            kept.save(content, plain, {"of": path, "files": {path: digest(content)}, "origin": {}})
    return dict(plain)
