"""What verification executes models on: array programs with QONNX's own bits, or the device that somebody chose."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError, TargetError, UnsupportedResourceError
from brainsmith.execution.execute import Executor
from brainsmith.runtime.default import chosen_manager

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.runtime.manager import ResourceManager
    from brainsmith.runtime.prepared import Prepared

Stack = np.ndarray[Any, Any]

_ARRAY_CODE = "brainsmith:numpy"
_PARTITION = "StreamingDataflowPartition"


class VerificationDevice:
    """Makes executors: on the device of `targets.init` or of the setting `device`, where one was named.

    With `auto`, and where the device's target is `numpy`, models run as array programs that give QONNX's bits: rounded
    floats too, on which a quantiser's level may depend. They also run what the device says that it does not support.

    Attributes:
        warnings: What the device did not support, said once.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._manager = chosen_manager()
        self._folder: Path | None = None
        self._parts = 0

    def executor(self, model: ModelWrapper, inner: ModelWrapper | None = None) -> Executor:
        """Prepare a model.

        Args:
            model: Not changed.
            inner: The model to run in place of the file that a dataflow partition of `model` names.

        Raises:
            BuildError: Its shapes cannot be inferred, or the device failed.
        """
        if self._manager is None:
            return Executor(model, inner)
        try:
            prepared = self._manager.prepare_resource(self._complete(model, inner))
        except UnsupportedResourceError as error:
            self._warn(error)
            return Executor(model, inner)
        except TargetError as error:
            raise BuildError(str(error)) from error
        if prepared.target.metadata().qualified == _ARRAY_CODE:
            return Executor(model, inner)
        return _DeviceExecutor(self._manager, prepared, model, inner)

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
        for node in whole.get_nodes_by_op_type(_PARTITION):
            for attribute in node.attribute:
                if attribute.name == "model":
                    attribute.s = str(file).encode()
        return whole

    def _warn(self, error: TargetError) -> None:
        if not self.warnings:
            reason = str(error).splitlines()[0]
            self.warnings.append(
                f"the device that was chosen cannot run every step's model, and array programs did instead: {reason}"
            )


class _DeviceExecutor(Executor):
    """A model that is prepared on a device."""

    def __init__(
        self, manager: ResourceManager, prepared: Prepared, model: ModelWrapper, inner: ModelWrapper | None
    ) -> None:
        super().__init__(model, inner)
        self._manager = manager
        self._prepared = prepared
        self.target = prepared.target.metadata().name

    def run(self, feed: Mapping[str, Stack], keep: frozenset[str] | None = frozenset()) -> dict[str, Stack]:
        """Compute the outputs of all samples; further tensors only where the target gives them."""
        runs = len(next(iter(feed.values())))
        inside = self._prepared.target.get_capabilities().intermediates and (keep is None or keep)
        wanted = {"keep": None if keep is None else tuple(keep)} if inside else {}
        try:
            found = self._manager.execute(self._prepared, self._arrays(feed), **wanted)
        except TargetError as error:
            raise BuildError(str(error)) from error
        shapes = {name: (runs, *self.shape(name)) for name in found}
        return {
            name: np.asarray(array).reshape(shapes[name])
            for name, array in found.items()
            if np.size(array) == np.prod(shapes[name])
        }

    def _arrays(self, feed: Mapping[str, Stack]) -> dict[str, Stack]:
        signature = self._prepared.signature
        if signature is None:
            return {name: feed[name].reshape(-1, *self.shape(name)[1:]) for name in self.inputs}
        return {spec.name: spec.joined(feed[spec.name]).astype(spec.dtype) for spec in signature.inputs}
