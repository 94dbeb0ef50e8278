"""What the host computes before and after the accelerator: cut off, and kept as the accelerator's parent model."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.steps.hardware_nodes import has_backend, nodes_between

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

PARENT = "intermediate_models/dataflow_parent.onnx"
"""Where FINN's own builder leaves the model around the accelerator, in the output folder."""

PARTITION = "StreamingDataflowPartition"
"""The type of the parent's node that stands for the accelerator."""

_PARTITIONS = "intermediate_models/supported_op_partitions"


def without_host_ends(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Return the part of a model that is hardware, as FINN's step_create_dataflow_partition does.

    A model often ends in a scale, or begins with a transpose, that no layer absorbs. Such nodes at the ends stay on
    the host; the model with the accelerator as one node goes to `PARENT` in `cfg.output_dir`.

    Args:
        model: Specialised. Without such nodes it is returned as it is; so it is if one lies between hardware layers,
            because then there is no one accelerator.
        cfg: Says where files go.
    """
    hosts = [node for node in model.graph.node if not has_backend(node)]
    if not hosts or len(hosts) == len(model.graph.node) or nodes_between(model, has_backend):
        return model
    from finn.transformation.fpgadataflow.create_dataflow_partition import CreateDataflowPartition
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.custom_op.registry import getCustomOp

    folder = Path(cfg.output_dir).absolute()
    parent = model.transform(CreateDataflowPartition(str(folder / _PARTITIONS)))
    (node,) = parent.get_nodes_by_op_type(PARTITION)
    (folder / PARENT).parent.mkdir(parents=True, exist_ok=True)
    parent.save(str(folder / PARENT))
    listed = ", ".join(f"{host.name} ({host.op_type})" for host in hosts)
    logging.getLogger(__name__).info("not part of the accelerator, and left to the host: %s", listed)
    return ModelWrapper(getCustomOp(node).get_nodeattr("model"))


def parent_model(folder: Path) -> ModelWrapper | None:
    """Return the model that holds the accelerator as a node, if a step left one in the output folder."""
    file = folder / PARENT
    if not file.is_file():
        return None
    from brainsmith.execution.read_model import read_model

    return read_model(file)
