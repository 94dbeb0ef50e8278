"""Every exception of BrainSmith.

All derive from `BrainsmithError` and from the standard class that fits, and carry one whole message: what is
wrong, where, and what to do next. The command line prints that message and exits with the code that `exit_code` gives; any
other exception is a bug and keeps its traceback.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


class BrainsmithError(Exception):
    """The base of all errors that a user can act on."""


class SettingsError(BrainsmithError, ValueError):
    """A setting, in a file or in the environment, has a value that cannot be used."""


class UsageError(BrainsmithError, ValueError):
    """A command line is invalid: an unknown verb or option, or a value that is missing or wrong."""


class ProjectError(BrainsmithError, RuntimeError):
    """A project or plugin cannot be begun: there is no project, it is one already, or a file or name is taken."""


class PluginNotFoundError(BrainsmithError, LookupError, AttributeError):
    """No plugin has this name.

    It is an AttributeError too, so that `hasattr(transforms, "X")` works.
    """


class AmbiguousPluginError(BrainsmithError, LookupError, AttributeError):
    """Several frameworks offer this name, and none has precedence.

    It is an AttributeError too: such a name is no attribute, and `hasattr(transforms, "X")` says so.
    """


class DuplicatePluginError(BrainsmithError, ValueError):
    """Two different objects claim one name in one framework."""


class PluginDefinitionError(BrainsmithError, ValueError):
    """A decorator is used wrongly: an unknown keyword, a missing one, a class of the wrong kind."""


class PluginLoadError(BrainsmithError, ImportError):
    """A plugin exists, but importing it failed; the cause is chained and named in the message."""


class PluginArgumentsError(BrainsmithError, TypeError):
    """A plugin cannot be created with these arguments; the message says what it takes, or that it is made for a node."""


class PluginEnvironmentError(BrainsmithError, RuntimeError):
    """Another environment cannot be used: there is none, its Python is too old, or its worker ended or took too long."""


class ForeignPluginError(BrainsmithError, RuntimeError):
    """A plugin of another environment raised; the text has its error and line, a note its traceback."""


class PluginUnavailableError(PluginLoadError):
    """A plugin's record says that it does not work here: another version of this host, a package that is missing.

    Attributes:
        plugin: The record.
    """

    plugin: Any = None


class UntrustedPluginError(PluginUnavailableError):
    """A plugin is not imported, because it is not trusted: where it comes from, why, and the command that trusts it."""


class StalePluginError(PluginUnavailableError):
    """A plugin's file is broken since it is watched: its last good version is known, and nothing is built with it."""


class WatchError(BrainsmithError, RuntimeError):
    """Files cannot be watched: a package is not installed."""


class TrustError(BrainsmithError, RuntimeError):
    """What is trusted cannot be read or changed: the list, a key, a signature, or what is to be trusted."""


class FrameworkUnavailableError(BrainsmithError, ImportError):
    """A framework that is needed here is not installed or does not work."""


class ToolError(BrainsmithError, RuntimeError):
    """A child process, or a tool that it runs, failed or is missing.

    Attributes:
        output: All that it printed, where it failed.
    """

    output: str = ""


class ModelError(BrainsmithError, ValueError):
    """The model cannot be built: not ONNX, not quantised, or with layers that are not supported."""


class OpError(BrainsmithError, ValueError):
    """An op is defined or called wrongly: a count, shape, dtype or device that it does not take or did not promise."""


class MissingOpError(OpError, LookupError):
    """A model uses ops that are not registered; the message says which bundles have them, and what to call."""


class GradientError(OpError):
    """A gradient is asked for that does not exist, or is not the derivative that it should be."""


class BundleError(BrainsmithError, RuntimeError):
    """A bundle cannot be loaded, registered or removed; the message names it, and the registry is as before."""


class BundleDefinitionError(BundleError, ValueError):
    """A bundle describes itself wrongly: a field that is missing, no version, a `plugin.json` with errors."""


class BundleClashError(BundleError, DuplicatePluginError):
    """A bundle has the name of one that is registered, or brings a plugin whose name is taken."""


class DynamicLoadingError(BundleError, NotImplementedError):
    """Bundles cannot be loaded at run time, because a setting forbids it; the message says which and where."""


class BundleVersionError(BundleError):
    """A bundle wants another version of the host, of its interface, or of another bundle."""


class BundleDependencyError(BundleError):
    """A bundle needs another one that is missing, or several depend on each other in a cycle."""


class NativeLibraryError(BundleError):
    """A file cannot be loaded as a native plugin: the base of what can be wrong with one."""


class LibraryFormatError(NativeLibraryError):
    """A file is not a shared library, or is one for another platform."""


class MissingSymbolError(NativeLibraryError):
    """A library lacks `create_plugin`, or its table lacks what it must have."""


class LibraryDependencyError(NativeLibraryError):
    """A library needs another library, or a symbol of one, that was not found."""


class LibraryPermissionError(NativeLibraryError, PermissionError):
    """A library may not be read or loaded."""


class PluginCrashError(NativeLibraryError):
    """A native op ended or blocked the process that runs it; the message names plugin, op and how."""


class SharedMemoryError(BrainsmithError, MemoryError):
    """Memory that processes share cannot be allocated."""


class InputError(BrainsmithError, ValueError):
    """What is given to a model is not its input: a name, shape or dtype; the message says what is expected."""


class ArrayFileError(BrainsmithError, ValueError):
    """A file of arrays (.npy, .npz) cannot be read, or holds others than are needed."""


class DashboardError(BrainsmithError, RuntimeError):
    """The dashboard cannot be served: there is no such folder, or the port is taken; the message says which."""


class TargetError(BrainsmithError, RuntimeError):
    """A target failed, in `initialize`, `prepare_resource`, `execute` or `cleanup`; the message names target and cause."""


class TargetUnavailableError(TargetError):
    """A target that is asked for by name cannot be used here; the message says why, and what would change that."""


class UnsupportedResourceError(TargetError, ValueError):
    """No target that may be used, or not the one asked for, can execute a resource; the message says why."""


class NoActiveTargetError(TargetError):
    """Something is to be executed, and no target is active: none was chosen, or the manager is closed."""


class RemoteError(TargetError):
    """A served target cannot be reached, ended the connection, or answered wrongly or too late; the message says which."""


class WireError(BrainsmithError, ValueError):
    """What came over a connection, or is to go over it, is not of the form that both ends agree on."""


class DeviceError(PluginNotFoundError, ValueError):
    """There is no such device, or no such id; the message lists those that there are."""


class BuildError(BrainsmithError, RuntimeError):
    """A step of a build failed.

    Attributes:
        step: The step to blame; empty if none is, or it is not known.
    """

    step: str = ""


class LockError(BrainsmithError, RuntimeError):
    """A build would use something else than the lock of its blueprint has: all of it is named. Or there is no such lock."""


class VerificationError(BuildError):
    """A step changed what the model computes, or a circuit does not compute it.

    Attributes:
        advice: What the blueprint can say of such a difference; empty where nothing would be right.
    """

    def __init__(self, message: str = "", step: str = "", advice: str = "") -> None:
        super().__init__(message)
        self.step = step
        self.advice = advice


class UnverifiedStepError(VerificationError):
    """A step made what cannot be compared with the model before it, and the blueprint does not say so."""


class NotProvenError(BuildError):
    """A strict build came to its end, and not all of it is proven; its output is written.

    Attributes:
        result: The `BuildResult`.
    """

    def __init__(self, message: str = "", result: object = None) -> None:
        super().__init__(message)
        self.result = result


class MetricsError(BrainsmithError, RuntimeError):
    """Figures cannot be shown or served: the extra `[metrics]` is missing, or nothing can listen at the address."""


class RtlSourceError(BrainsmithError, ValueError):
    """A file of FINN's RTL library is missing, or is not what the rules that alter it expect."""


class SimulationError(BrainsmithError, RuntimeError):
    """A simulation cannot be built or run, or its result cannot be trusted."""


class SimulationStalledError(SimulationError):
    """A simulation reached its cycle limit with beats that were still to come or to go; the message names them."""


class OutputError(BrainsmithError, OSError):
    """The output folder cannot be written."""


class CacheError(BrainsmithError, LookupError):
    """What is kept on disk cannot be listed or removed: the folder is not the user's, or no entry has this key."""


class SharedCacheError(BrainsmithError, OSError):
    """A shared cache cannot be used: builds go on without it, and `cache push` and `cache pull` end."""


class Problem(Struct):
    """One thing that is wrong in a file: where, and the sentence.

    Attributes:
        file: The path as the user gave it.
        line: 1-based; 0 where the problem is the whole file's.
        column: 1-based; 0 where only the line is known.
        text: What is wrong and what to do.
    """

    file: str
    line: int
    column: int
    text: str

    def to_plain(self) -> tuple[str, int, int, str]:
        """Return it as texts and numbers, of which `Problem(*plain)` makes it again."""
        return self.file, self.line, self.column, self.text

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        return f"{place}: {self.text}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class BlueprintError(BrainsmithError, ValueError):
    """A blueprint has errors: all of them, each with its place.

    Attributes:
        problems: In the order of the file.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ExplorationError(BrainsmithError, RuntimeError):
    """An exploration cannot begin or go on: its folder is taken, or its journal is of another version."""


class ConditionError(BrainsmithError, ValueError):
    """A condition over the choices of a design space is wrong, or its values cannot be compared."""


def exit_code(error: BaseException) -> int:
    """Return the exit code of a command that ends with an exception; nothing else decides it.

    2 if the command line is invalid, 3 if a strict build is not proven, 130 after Ctrl-C (128 and the number of SIGINT,
    as shells count), and 1 for every other failure.
    """
    if isinstance(error, UsageError):
        return 2
    if isinstance(error, NotProvenError):
        return 3
    if isinstance(error, KeyboardInterrupt):
        return 130
    return 1
