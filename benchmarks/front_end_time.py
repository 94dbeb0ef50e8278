"""What the front end takes for a model: from cleanup's result to layers of integers, without verification."""

from __future__ import annotations

import time
from pathlib import Path

RUNS, SECONDS = 20, 3.0
"""As many runs as fit into the time, and one at least."""


def seconds_of(file: Path, datatype: str = "") -> float:
    """Return the processor time of the fastest of some runs in this process, where everything is imported.

    It computes on one core, so on a quiet machine the clock says the same; on a loaded one it says nothing.

    Args:
        file: The model.
        datatype: Of its inputs, such as `UINT8`, where the model does not say it and no quantiser follows.
    """
    from qonnx.core.datatype import DataType

    from brainsmith.execution.read_model import read_model
    from brainsmith.plugins import steps

    taken: list[float] = []
    while not taken or (len(taken) < RUNS and sum(taken) < SECONDS):
        model = steps.cleanup(read_model(file), None)
        for value in model.graph.input if datatype else ():
            model.set_tensor_datatype(value.name, DataType[datatype])
        begin = time.process_time()
        steps.integer(model, None)
        taken.append(time.process_time() - begin)
    return min(taken)
