"""An attention block."""

from __future__ import annotations

import brevitas.nn as qnn
from brevitas.quant import Int8ActPerTensorFloat
from torch import Tensor, nn


class Attention(nn.Module):
    """An encoder's block: attention of two heads, normalisation, and two dense layers."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.inputs = qnn.QuantIdentity(bit_width=8)
        self.attention = qnn.QuantMultiheadAttention(
            width, 2, batch_first=True, packed_in_proj=False, out_proj_output_quant=Int8ActPerTensorFloat
        )
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.sum1, self.sum2 = qnn.QuantIdentity(bit_width=8), qnn.QuantIdentity(bit_width=8)
        self.up = qnn.QuantLinear(width, 2 * width, bias=True, weight_bit_width=8)
        self.between = qnn.QuantIdentity(bit_width=8)
        self.down = qnn.QuantLinear(2 * width, width, bias=True, weight_bit_width=8)
        self.out = qnn.QuantIdentity(bit_width=8)

    def forward(self, x: Tensor) -> Tensor:
        """Encode."""
        x = self.inputs(x)
        x = self.sum1(self.norm1(x + self.attention(x, x, x)[0]))
        return self.norm2(x + self.out(self.down(self.between(nn.functional.gelu(self.up(x))))))
