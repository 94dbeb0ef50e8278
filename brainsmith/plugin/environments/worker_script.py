"""The worker of another environment: its Python runs this file, which imports the plugins there and calls them.

It needs the standard library, and onnx and qonnx of its environment where a plugin is called. BrainSmith need not be
installed there: where it is not, a stand-in has the decorators, which then enter nothing anywhere. Where it is, its
version does not matter: this file comes from the BrainSmith that asks.
"""

from __future__ import annotations

import sys

OLDEST = (3, 9)
"""The oldest Python that can be a worker."""

if sys.version_info < OLDEST:
    sys.exit(
        "Python "
        + ".".join(map(str, sys.version_info[:3]))
        + " is too old for a worker: 3.9 or newer is needed"
    )

import faulthandler  # noqa: E402
import importlib  # noqa: E402
import importlib.util  # noqa: E402
import io  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import shutil  # noqa: E402
import signal  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
import types  # noqa: E402
import warnings  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.environments import worker_ops, worker_reads, worker_wire

DECORATORS = ("transform", "kernel", "backend", "step", "op", "target", "bundle")
GRACE = 0.5
"""Seconds that a call has to end after whoever asked has ended."""

_OWN = os.path.abspath(__file__)


def _load(name: str) -> None:
    """Load a file beside this one, under a name that no plugin has."""
    path = os.path.join(os.path.dirname(_OWN), f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"brainsmith_worker_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    globals()[name] = module


class Channel:
    """The two pipes to whoever asks, and the folder that both share; a message is written whole by whichever thread."""

    def __init__(self, ask: int, answer: int, folder: str) -> None:
        self._ask, self._answer, self._folder = ask, answer, folder
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._pid = os.getpid()
        self._of_thread = threading.local()

    def send(self, header: dict[str, Any], blobs: Any = ()) -> None:
        """Send a message."""
        parts = worker_wire.packed(header, list(blobs), self._folder)
        self._of_thread.sends = True
        try:
            with self._lock:
                worker_wire.write_all(self._answer, parts)
        finally:
            self._of_thread.sends = False

    def say(self, text: str, **message: Any) -> None:
        """Send what a plugin says; or print it past the pipes, where another message would be broken into.

        So it is in a child that a plugin forked, and in what is destroyed while this thread sends a message.
        """
        if os.getpid() != self._pid or getattr(self._of_thread, "sends", False):
            end = "" if message["kind"] == "print" else "\n"
            worker_wire.write_all(2, [(text + end).encode("utf-8", "backslashreplace")])
        else:
            self.send({**message, "text": text})

    def receive(self) -> Any:
        """Wait for a message; None when nobody asks any more."""
        return worker_wire.unpack(lambda count: worker_wire.read_exactly(self._ask, count), self._folder)

    def inquire(self, **question: Any) -> Any:
        """Ask whoever called for something of `cfg`, and return it."""
        if os.getpid() != self._pid:
            raise RuntimeError("a process that a plugin forked cannot use cfg: read it before")
        blobs: list[bytes] = []
        values = {name: worker_wire.encode(value, blobs) for name, value in question.items()}
        with self._turn:
            self.send({"kind": "cfg", **values}, blobs)
            received = self.receive()
        if received is None:
            os._exit(0)
        header, blobs = received
        if header["kind"] == "missing":
            raise AttributeError(header["text"])
        if header["kind"] == "refused":
            raise TypeError(header["text"])
        return header["kind"], worker_wire.decode(header.get("value"), blobs)


class Config:
    """The `cfg` of a step: what is read and set of it is read and set where the build runs."""

    def __init__(self, channel: Channel) -> None:
        object.__setattr__(self, "_channel", channel)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        kind, value = self._channel.inquire(do="get", name=name)
        if kind == "method":
            return lambda *args, **named: self._channel.inquire(do="call", name=name, args=args, named=named)[
                1
            ]
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        self._channel.inquire(do="set", name=name, value=value)


class SentStream(io.TextIOBase):
    """Standard output or standard error: what is written there is printed where the build runs."""

    def __init__(self, name: str, channel: Channel) -> None:
        self._name, self._channel = name, channel

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Print a text there."""
        self._channel.say(str(text), kind="print", stream=self._name)
        return len(text)


class Records(logging.Handler):
    """Logs there what is logged here."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record, with the name of its logger."""
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001  (arguments that do not fit cost no plugin its call, there as little as here)
            self.handleError(record)
            return
        if record.exc_info and record.exc_info[0] is not None:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip()
        self._channel.say(text, kind="log", name=record.name, level=record.levelno)


def _stand_in(name: str) -> types.ModuleType:
    """Return a module in place of one of BrainSmith's, with the decorators: each returns what it decorates."""

    def decorate(*args: Any, **values: Any) -> Any:
        return args[0] if args else lambda obj: obj

    def missing(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise ImportError(
            f"BrainSmith is not installed in this environment, and what stands for it has no {attribute!r}, "
            f"only the decorators {', '.join(DECORATORS)}: install brainsmith there"
        )

    module = types.ModuleType(name)
    vars(module).update(dict.fromkeys(DECORATORS, decorate), __path__=[], __getattr__=missing)
    return module


def _provide_brainsmith() -> None:
    """Let plugins import the decorators, also where BrainSmith is not installed."""
    if importlib.util.find_spec("brainsmith") is None:
        for name in ("brainsmith", "brainsmith.plugin", "brainsmith.plugin.core", "brainsmith.plugins"):
            sys.modules[name] = _stand_in(name)


class Plugins:
    """Imports plugins, holds their instances by number, and calls them."""

    def __init__(self, channel: Channel, folder: str) -> None:
        self._channel = channel
        self._reads = worker_reads.WorkerReads(folder)
        self._instances: dict[int, Any] = {}
        self._installed: set[str] = set()
        self.phase = ""

    def run(self, header: dict[str, Any], blobs: list[bytes]) -> None:
        """Do what is asked, and answer."""
        for number in header["forget"]:
            self._instances.pop(number, None)
        logging.getLogger().setLevel(header["level"])
        try:
            answer, out = self._called(header, blobs)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (a plugin may raise anything; it is raised where the build runs)
            answer, out = self._failure(error), []
        modules = self._modules(header["module"].partition(".")[0])
        self._channel.send({**answer, **self._reads.taken(), "modules": modules}, out)

    def _called(self, header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        plugin = self._imported(header["module"], header["name"])
        if header["type"] == "op":
            return self._asked_of_op(plugin, header, blobs)
        self.phase = "call"
        args, named = worker_wire.decode(header["args"], blobs), worker_wire.decode(header["named"], blobs)
        model = self._model(blobs[0])
        if header["type"] == "transform":
            self.phase = "create"
            transform = self._instances.get(header["number"])
            if transform is None:
                transform = self._instances[header["number"]] = plugin(*args, **named)
            self.phase = "call"
            result = transform.apply(model)
            if not isinstance(result, tuple) or len(result) != 2:
                raise TypeError(f"apply must return (model, modified), not {type(result).__name__}")
            model, modified = result
        else:
            self.phase = "call"
            model, modified = plugin(model, Config(self._channel), *args, **named), True
        if not hasattr(getattr(model, "model", None), "SerializeToString"):
            raise TypeError(f"it must return a model, not {type(model).__name__}")
        data = model.model.SerializeToString()
        return {"kind": "done", "modified": bool(modified)}, [] if data == blobs[0] else [data]

    def _asked_of_op(
        self, plugin: Any, header: dict[str, Any], blobs: list[bytes]
    ) -> tuple[dict[str, Any], list[bytes]]:
        self.phase = "model"
        self._import_frameworks()
        self.phase = "call"
        node = worker_ops.ForeignNode(plugin, header["stated"], worker_wire.decode(header["values"], blobs))
        out: list[bytes] = []
        return {"kind": "done", "value": worker_wire.encode(node.answer(header["do"]), out)}, out

    def _imported(self, module: str, name: str) -> Any:
        self.phase = "import"
        self._reads.importing = True
        try:
            value: Any = importlib.import_module(module)
            for part in name.split("."):
                value = getattr(value, part)
            return value
        finally:
            self._reads.importing = False

    def _model(self, data: bytes) -> Any:
        self.phase = "model"
        self._import_frameworks()
        from onnx import ModelProto  # of this environment: only where a model comes
        from qonnx.core.modelwrapper import ModelWrapper  # so too

        proto = ModelProto()
        proto.ParseFromString(data)
        return ModelWrapper(proto)

    def _import_frameworks(self) -> None:
        self._reads.importing = True
        try:
            importlib.import_module("qonnx.core.modelwrapper")
            importlib.import_module("qonnx.custom_op.registry")
        finally:
            self._reads.importing = False

    def _failure(self, error: BaseException) -> dict[str, Any]:
        own = os.path.dirname(_OWN)
        frames = [f for f in traceback.extract_tb(error.__traceback__) if os.path.dirname(f.filename) != own]
        frames = [f for f in frames if not f.filename.startswith("<frozen")]
        kind = type(error)
        return {
            "kind": "failed",
            "phase": self.phase,
            "error": kind.__name__
            if kind.__module__ == "builtins"
            else f"{kind.__module__}.{kind.__qualname__}",
            "text": str(error),
            "place": f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "",
            "trace": "".join(traceback.format_exception(kind, error, error.__traceback__)),
        }

    def _modules(self, top: str) -> list[str]:
        """Return the files that are imported of the plugin's own package and of packages that are installed in place.

        When one changes, another worker is started.
        """
        files = []
        for name, module in list(sys.modules.items()):
            is_own = name.partition(".")[0] == top
            if is_own or name not in self._installed:
                file = getattr(module, "__dict__", {}).get("__file__")
                if isinstance(file, str) and (is_own or self._reads.is_elsewhere(file)):
                    files.append(file)
                elif not is_own:
                    self._installed.add(name)
        return files


def _watch(descriptor: int, folder: str) -> None:
    """End this process, and all that it started, soon after whoever asks has ended; what it shared goes, too."""
    poll = select.poll()
    poll.register(descriptor, 0)  # that nobody reads any more is reported in any case
    poll.poll()
    time.sleep(GRACE)
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def main(ask: int, answer: int, folder: str) -> None:
    """Answer until nobody asks any more."""
    faulthandler.enable()
    _load("worker_ops")
    _load("worker_reads")
    _load("worker_wire")
    channel = Channel(ask, answer, folder)
    threading.Thread(target=_watch, args=(answer, folder), daemon=True).start()
    sys.stdout, sys.stderr = SentStream("stdout", channel), SentStream("stderr", channel)
    logging.getLogger().addHandler(Records(channel))

    def show(message: Any, category: Any, file: str, line: int, *more: Any) -> None:
        channel.say(str(message), kind="warning", category=category.__name__, file=file, line=line)

    warnings.showwarning = show  # type: ignore[assignment]
    _provide_brainsmith()
    plugins = Plugins(channel, folder)
    channel.send({"kind": "ready", "version": ".".join(map(str, sys.version_info[:3]))})
    while True:
        received = channel.receive()
        if received is None:
            return
        plugins.run(*received)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
