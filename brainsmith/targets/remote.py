"""remote: a target that another process or machine serves, over HTTP."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brainsmith.errors import DeviceError, RemoteError, SettingsError, UnsupportedResourceError, WireError
from brainsmith.plugin.core import target
from brainsmith.plugin.info import Priority
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.model_resources import is_folder, why_no_model
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.resource_content import content_of
from brainsmith.runtime.serving import protocol
from brainsmith.runtime.serving.answers import Served, prepared_of
from brainsmith.runtime.serving.limits import MEGABYTE
from brainsmith.runtime.serving.protocol import UnknownAtServerError
from brainsmith.runtime.serving.sending import model_bytes, why_not_whole
from brainsmith.runtime.serving.token import checked_token, find_token
from brainsmith.runtime.serving.wire import encode, to_json
from brainsmith.runtime.target import Target
from brainsmith.runtime.target_outputs import wrong_outputs
from brainsmith.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from brainsmith.execution.signature import ModelSignature
    from brainsmith.graph.array_types import Array
    from brainsmith.runtime.serving.client import Client

NO_URL = (
    "no served target is configured: start one with brainsmith serve-target TARGET, and set BRAINSMITH_REMOTE_URL "
    "(remote_url: in the settings) to the address that it prints"
)


@dataclass
class AtServer:
    """What a model or folder becomes here: enough to have it prepared again by a server that has forgotten it.

    Attributes:
        content: Stands for it.
        data: The model's bytes; None for a folder, which is never sent.
        config: The served target's own choices.
        name: What the server calls it once it is prepared.
    """

    content: str
    data: bytes | None = field(repr=False)
    config: dict[str, Any]
    name: str = ""


@target(
    name="remote",
    priority=Priority.LOW,
    device_types=("remote",),
    display_name="Remote",
    vendor="BrainSmith",
    description="A target that another process or machine serves, over HTTP",
)
class RemoteTarget(Target):
    """Runs models on a target that `brainsmith serve-target` serves: results are those of that target, bit for bit.

    A model is sent once, by its content. A build's folder is never sent, since it holds programs: the server gets
    its own copy with `--build`.

    Args:
        device_id: Of the served target.
        url: `http://HOST:PORT` or `https://HOST:PORT`; the setting `remote_url` by default.
        token: What the server wants to know; by default that of the setting `remote_token_file`, or else of
            `BRAINSMITH_REMOTE_TOKEN`.
        timeout: The seconds that one answer may take; the setting `remote_timeout` by default, which is 60.
        limit_mb: The largest answer that is taken.
        verify: Of a server with TLS: the file of its certificate, or of the authority that signed it; False to take any;
            the setting `remote_verify` by default, which is true: what this machine trusts.

    Raises:
        SettingsError: A value cannot be used.
    """

    def __init__(
        self,
        device_id: int = 0,
        url: str | None = None,
        token: str | None = None,
        timeout: float | None = None,
        limit_mb: float = 1000.0,
        verify: str | bool | None = None,
    ) -> None:
        super().__init__(device_id)
        self._url = url
        self._token = None if token is None else checked_token(token, "token= of the target remote")
        self._timeout = timeout
        self._limit = int(limit_mb * MEGABYTE)
        self._verify = verify
        self._served: Served | None = None
        self._settings()  # says what is wrong with them

    def unavailable_reason(self) -> str:
        """Return what is to be installed or set; whether somebody is there, `initialize` finds out."""
        return protocol.why_not_installed() or ("" if self._settings().remote_url else NO_URL)

    def supports(self, resource: Any) -> str:
        """Return why a resource cannot be sent: it is neither a model nor a folder of the server's."""
        if not is_folder(resource):
            return why_no_model(resource) or why_not_whole(resource)
        try:
            known = self._ask("the question for a folder", "GET", protocol.MODELS + content_of(resource))
        except RemoteError as error:
            return str(error)
        return "" if known.get("known") is True else _no_folder(resource)

    def get_capabilities(self) -> Capabilities:
        """Return what the served target promises, once initialised."""
        return Capabilities() if self._served is None else self._served.capabilities

    def describe(self) -> str:
        """Return what answers, once initialised."""
        if self._served is None:
            return super().describe()
        return f"{self._served.name} at {self._client.url}, over HTTP"

    def initialize(self) -> None:
        """Connect, and ask what is served.

        Raises:
            RemoteError: No server is there, or the answer is not one of this protocol.
            DeviceError: The served target has no such device.
        """
        self._client = self._connected()
        try:
            self._greet()
        except BaseException:
            self._client.close()
            raise

    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Prepared:
        """Have the served target prepare a model; it is sent unless the server has it.

        Args:
            resource: The path of an .onnx file, its bytes, a QONNX ModelWrapper; or a folder that the server has too.
            config: The served target's own choices: numbers, texts, lists and tables.

        Raises:
            UnsupportedResourceError: It is no model, or a folder that the server does not have; or the served target
                does not support it.
            RemoteError: The server does not answer, or wrongly.
            WireError: The configuration has other values.
        """
        if is_folder(resource):
            at_server = AtServer(content_of(resource), None, dict(config or {}))
        else:
            if problem := why_no_model(resource) or why_not_whole(resource):
                raise UnsupportedResourceError(problem)
            data = model_bytes(resource)
            at_server = AtServer(protocol.model_content(data), data, dict(config or {}))
        try:
            signature = self._prepare(at_server)
        except UnknownAtServerError as error:
            raise UnsupportedResourceError(_no_folder(resource)) from error
        return Prepared(target=self, signature=signature, payload=at_server)

    def execute(
        self, prepared: Prepared, inputs: Any, *, keep: Iterable[str] | None = (), **options: Any
    ) -> dict[str, Array]:
        """Have the served target run samples.

        Args:
            prepared: Of this target.
            inputs: By name, or one array.
            keep: Further tensors to return; None for all. A text is one name.
            **options: The served target's own: numbers, texts, lists and tables.

        Raises:
            InputError: Inputs do not fit, or there is no such tensor.
            RemoteError: The server does not answer, or wrongly.
            BrainsmithError: What the served target raised there.
        """
        at_server: AtServer = prepared.payload
        arrays, runs = _inputs(prepared.signature, inputs)
        asked = None if keep is None else [keep] if isinstance(keep, str) else list(keep)
        head = {"keep": asked, "options": options}
        try:
            outputs = self._execute(at_server, head, arrays)
        except UnknownAtServerError:  # it was started anew, or has prepared much else since
            self._prepare(at_server)
            outputs = self._execute(at_server, head, arrays)
        if prepared.signature is not None and self._served is not None:
            with self._believing():
                if wrong := wrong_outputs(prepared.signature, outputs, runs, asked):
                    raise WireError(f"its target '{self._served.name}' must {wrong}")
        return outputs

    def cleanup(self) -> None:
        """Close the connections; the server keeps what it has."""
        self._client.close()

    def _greet(self) -> None:
        """Ask what is served."""
        said = self._ask("the question for its target", "GET", protocol.TARGET)
        with self._believing():
            served = Served.of(said)
        if served.device_ids is not None and self.device_id not in served.device_ids:
            there = ", ".join(map(str, served.device_ids)) or "none"
            raise DeviceError(
                f"target 'remote' has no device {self.device_id}; '{served.name}' at {self._client.url} has {there}"
            )
        self._served = served

    def _settings(self) -> Settings:
        return load_settings(remote_url=self._url, remote_timeout=self._timeout, remote_verify=self._verify)

    def _connected(self) -> Client:
        settings = self._settings()
        if reason := self.unavailable_reason():
            raise RemoteError(reason)
        from brainsmith.runtime.serving.client import Client

        return Client(
            str(settings.remote_url),
            _token_of(settings.remote_token_file) if self._token is None else self._token,
            settings.remote_timeout,
            self._limit,
            settings.remote_verify,
        )

    def _ask(
        self, doing: str, method: str, path: str, request: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        client = getattr(self, "_client", None)
        body = b"" if request is None else to_json(request)
        if client is not None:
            return dict(client.ask(doing, method, path, body)[0])
        client = self._connected()  # asked before `initialize`
        try:
            return dict(client.ask(doing, method, path, body)[0])
        finally:
            client.close()

    def _prepare(self, at_server: AtServer) -> ModelSignature | None:
        """Have it prepared; if the server lacks the model, send it first."""
        request = {
            "content": at_server.content,
            "device_id": self.device_id,
            "config": at_server.config,
        }
        try:
            answer = self._ask("prepare_resource", "POST", protocol.PREPARE, request)
        except UnknownAtServerError:
            if at_server.data is None:
                raise
            self._send("the model", "PUT", protocol.MODELS + at_server.content, at_server.data)
            answer = self._ask("prepare_resource", "POST", protocol.PREPARE, request)
        with self._believing():
            at_server.name, signature = prepared_of(answer)
        return signature

    def _execute(
        self, at_server: AtServer, head: Mapping[str, Any], arrays: dict[str, Array]
    ) -> dict[str, Array]:
        body = encode({"prepared": at_server.name, **head}, arrays)
        return self._send("execute", "POST", protocol.EXECUTE, body, protocol.ARRAYS)

    def _send(
        self, doing: str, method: str, path: str, body: bytes, kind: str = "application/octet-stream"
    ) -> dict[str, Array]:
        assert self._served is not None
        size, most = len(body), self._served.megabytes
        if size > most * MEGABYTE:
            raise RemoteError(
                f"{self._client.url} takes {most:g} MB at once, and {doing} has {size / MEGABYTE:.3g}: start it with a "
                "larger --limit-mb, or give fewer samples at once"
            )
        return self._client.ask(doing, method, path, body, kind)[1]

    @contextmanager
    def _believing(self) -> Iterator[None]:
        """Read an answer in the body; if it is not valid, name the server in the error."""
        try:
            yield
        except WireError as error:
            raise RemoteError(
                f"{self._client.url} does not answer as a served target does: {error}"
            ) from error


def _token_of(file: str | None) -> str:
    try:
        return find_token(file)[0]
    except SettingsError as error:  # which is not the target's fault
        raise RemoteError(str(error) if file is None else f"remote_token_file: {error}") from error


def _inputs(signature: ModelSignature | None, inputs: Any) -> tuple[dict[str, Array], int]:
    if signature is not None:
        return signature.checked(inputs)
    if not hasattr(inputs, "items"):
        raise WireError("the served target does not say what its inputs are, so they must be given by name")
    return dict(inputs), 0


def _no_folder(resource: Any) -> str:
    return (
        f"the server does not have the folder {resource}, and a folder is never sent, because it holds programs: "
        "start it with --build DIR, where DIR is a copy of it"
    )
