"""What verification executes models on: array programs with QONNX's own bits, or the device that somebody chose."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.build.lasting_operators import has_lasting_operators
from brainsmith.build.once_per_model import OncePerModel
from brainsmith.build.relocate import relocated
from brainsmith.errors import BuildError, TargetError, UnsupportedResourceError
from brainsmith.execution.execute import Executor
from brainsmith.execution.kept import kept
from brainsmith.execution.kept_results import KeptResults
from brainsmith.runtime.default import chosen_manager
from brainsmith.steps.host_ends import PARTITION
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.signature import ModelSignature
    from brainsmith.runtime.prepared import Prepared
    from brainsmith.runtime.resource_manager import ResourceManager

Stack = np.ndarray[Any, Any]

_MOST_BYTES = 1 << 24
"""Of larger models each step's would be held, and no results are kept."""

_ARRAY_CODE = "brainsmith:numpy"


class VerificationDevice:
    """Makes executors: on the device of `targets.init` or of the setting `device`, where one was named.

    With `auto`, and where the device's target is `numpy`, models run as array programs that give QONNX's bits: rounded
    floats too, on which a quantiser's level may depend. They also run what the device says that it does not support, and
    everything once the device is found to be wrong.

    Args:
        keep: Whether what array programs give may be that of earlier builds, and is kept.
        folder: Where the build works: models that differ in its name alone are the same. None if they name no such folder.

    Attributes:
        once: Shares what is made of one model, for those that verify it with several kinds of inputs.
    """

    def __init__(self, keep: bool = False, folder: Path | None = None) -> None:
        self._building = folder
        self.once = OncePerModel()
        self._results: list[KeptResults] | None = [] if keep else None
        self._manager = chosen_manager()
        self._folder: Path | None = None
        self._parts = 0
        self._passed_over: dict[str, list[str]] = {}
        self._distrusted: list[str] = []

    @property
    def warnings(self) -> list[str]:
        """What the device did not run, with the reason."""
        passed = [
            f"{', '.join(dict.fromkeys(models))} did not run on the device that was chosen, but as array programs: {reason}"
            for reason, models in self._passed_over.items()
        ]
        return [*self._distrusted, *passed]

    def executor(self, what: str, model: ModelWrapper, inner: ModelWrapper | None = None) -> Executor:
        """Prepare a model.

        Args:
            what: What it is, for people.
            model: Not changed.
            inner: The model to run in place of the file that a dataflow partition of `model` names.

        Raises:
            BuildError: Its shapes cannot be inferred, or the device failed.
        """
        if self._manager is None:
            return self.program(model, inner)
        executor = Executor(model, inner)
        try:
            prepared = self._manager.prepare_resource(self._complete(model, inner))
            if prepared.target.metadata().qualified == _ARRAY_CODE:
                return executor
            return _DeviceExecutor(self._manager, prepared, model, inner)
        except UnsupportedResourceError as error:
            self._passed_over.setdefault(_reason(error), []).append(what)
            return executor
        except TargetError as error:
            raise BuildError(str(error)) from error

    def program(self, model: ModelWrapper, inner: ModelWrapper | None = None) -> Executor:
        """Prepare a model as an array program, made once as long as models stay as they are."""
        return self.once(self._made, model, inner).twin()

    def _made(self, model: ModelWrapper, inner: ModelWrapper | None) -> Executor:
        models = [one for one in (model, inner) if one is not None]
        content = self._content(models)
        if self._results is None or content is None:
            return Executor(model, inner)
        self._results.append(KeptResults(content, self._portable(content)))
        return Executor(model, inner, self._results[-1])

    def fact(self, model: ModelWrapper, roots: tuple[str, ...], make: Callable[[], Any]) -> Any:
        """Return a plain value that is made of a model: that of an earlier build, or else now.

        Args:
            model: Not changed.
            roots: The modules that make it, beside the model's operators.
            make: Makes it; never None.
        """
        content = self._content([model])
        if content is None:
            return make()

        def made() -> tuple[Any, Any, frozenset[str]]:
            value, program = make(), self.program(model).program
            return value, value if program.files == {} else None, program.modules

        (portable,) = self._portable(content)
        return kept("facts", digest(portable), roots).obtain(lambda plain: plain, made)

    def _content(self, models: Sequence[ModelWrapper]) -> list[bytes] | None:
        """Return models as bytes; None if what is made of them may not be kept, or they are too large for it."""
        if self._results is None or not all(has_lasting_operators(one.graph) for one in models):
            return None
        content = [one.model.SerializeToString(deterministic=True) for one in models]
        return content if sum(map(len, content)) <= _MOST_BYTES else None

    def _portable(self, models: Sequence[bytes]) -> list[bytes]:
        """Return models without the name of the folder in which they were made."""
        folder = self._building
        return [data if folder is None else relocated("model.onnx", data, str(folder), "") for data in models]

    def save(self) -> None:
        """Keep what array programs gave."""
        for results in self._results or ():
            results.save()

    def distrust(self, why: str) -> None:
        """Use the device no more, and warn."""
        self._manager = None
        self._distrusted.append(why)

    def _complete(self, model: ModelWrapper, inner: ModelWrapper | None) -> ModelWrapper:
        """Return a model whose partition names a file with the inner model."""
        if inner is None:
            return model
        from qonnx.core.modelwrapper import ModelWrapper

        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="brainsmith-verify-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._parts += 1
        file = self._folder / f"part{self._parts}.onnx"
        inner.save(str(file))
        whole = ModelWrapper(model.model.SerializeToString())
        for node in whole.get_nodes_by_op_type(PARTITION):
            for attribute in node.attribute:
                if attribute.name == "model":
                    attribute.s = str(file).encode()
        return whole


class _DeviceExecutor(Executor):
    """A model that is prepared on a device."""

    def __init__(
        self, manager: ResourceManager, prepared: Prepared, model: ModelWrapper, inner: ModelWrapper | None
    ) -> None:
        super().__init__(model, inner)
        self._manager = manager
        self._prepared = prepared
        self._signature = self._stated()
        self.target = prepared.target.metadata().name

    def run(self, feed: Mapping[str, Stack], keep: frozenset[str] | None = frozenset()) -> dict[str, Stack]:
        """Compute the outputs of all samples; further tensors only where the target gives them."""
        runs = len(next(iter(feed.values())))
        inside = self._prepared.target.get_capabilities().intermediates and (keep is None or keep)
        wanted = {"keep": None if keep is None else tuple(keep)} if inside else {}
        arrays = {
            spec.name: spec.joined(feed[spec.name]).astype(spec.dtype) for spec in self._signature.inputs
        }
        try:
            found = self._manager.execute(self._prepared, arrays, **wanted)
        except TargetError as error:
            raise BuildError(str(error)) from error
        stacks = {name: np.asarray(array) for name, array in found.items()}
        return {  # the outputs are as stated; of what lies inside nothing is
            name: stack.reshape(runs, *self.shape(name))
            for name, stack in stacks.items()
            if stack.dtype.kind in "biuf" and stack.size == runs * int(np.prod(self.shape(name)))
        }

    def _stated(self) -> ModelSignature:
        """Return the signature that the target states.

        Raises:
            UnsupportedResourceError: There is none, or it is not the model's.
        """
        signature = self._prepared.signature
        if signature is None:
            raise UnsupportedResourceError("its target does not state the model's inputs and outputs")
        for kind in ("inputs", "outputs"):
            specs, names = getattr(signature, kind), getattr(self, kind)
            stated = {spec.name: tuple(spec.shape) for spec in specs}
            real = {name: self.shape(name) for name in names}
            if stated != real:
                text = f"its target says that the {kind} are {stated}, and the model's are {real}"
                raise UnsupportedResourceError(text)
        return signature


def is_device_failure(error: BaseException | None) -> bool:
    """Tell whether a target failed, so that neither the model nor a step is to blame."""
    while error is not None and not isinstance(error, TargetError):
        error = error.__cause__
    return error is not None


def _reason(error: TargetError) -> str:
    """Return why, without the words that name the model as Python does."""
    first = str(error).splitlines()[0]
    return first.replace("cannot execute a ModelWrapper: ", "cannot execute it: ")
