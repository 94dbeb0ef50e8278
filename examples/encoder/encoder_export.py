"""Write a trained encoder as QONNX: standard ONNX operators on float32, and Quant nodes.

All scales are powers of two and all biases exact in float32, so products and sums are exact. Only Softmax and
LayerNormalization round, as their runtime does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from encoder_network import PIXELS, TOKENS, Encoder

from brainsmith.ops import Tensor, export_onnx


def export(network: Encoder, path: Path) -> None:
    """Round the parameters permanently, compute one image, and write what was recorded as a QONNX file.

    The input is `image`, (1, 8, 8), integers 0 to 16 in float32, annotated UINT5; the output is `logits`,
    (1, 10). The same network gives the same bytes.
    """
    network.freeze()
    image = Tensor(np.zeros((1, TOKENS, PIXELS), np.float32))
    outputs = {"logits": network(image)}
    names = {
        "image_centre": network.centre,
        "score_scale": network.attention.score_scale,
        **network.names(),
    }
    stated = {"image": "UINT5"}
    export_onnx(outputs, {"image": image}, path, name="digits_encoder", names=names, datatypes=stated)
