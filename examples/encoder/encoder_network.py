"""One transformer encoder block over the rows of an image, and a classifier of the pooled tokens."""

from __future__ import annotations

import numpy as np
from digits_data import Array, Labels
from encoder_layers import Dense, Grid, LayerNorm, Quantiser, Softmax
from encoder_ops import Fork
from quantised_layers import Layer
from quantised_network import Block

from brainsmith.ops import Tensor, functional, no_grad

TOKENS = 8
PIXELS = 8
WIDTH = 32
HEADS = 2
HIDDEN = 64
CLASSES = 10

INPUT = Grid(4, 1.0)
STREAM = Grid(6, 2.0**-3)
"""What flows from one residual sum to the next: both sides of a sum have one scale."""
OPERAND = Grid(4, 2.0**-1)
"""Queries, keys and values."""
PROBABILITY = Grid(6, 2.0**-6, signed=False)
MIXED = Grid(5, 2.0**-3)
RECTIFIED = Grid(4, 2.0**-2, signed=False)
FEATURES = Grid(4, 2.0**-1)
SCORE_SCALE = (WIDTH // HEADS) ** -0.5

HEAD_AXES = {"query": (0, 2, 1, 3), "key": (0, 2, 3, 1), "value": (0, 2, 1, 3)}
"""The order of the axes (image, token, head, channel) in which each operand is multiplied."""

_FORK = Fork()


def weights(scale: float) -> Grid:
    """Return the grid of weights of 4 bits."""
    return Grid(4, scale, narrow=True)


class Attention(Block):
    """Multi-head attention: softmax(Q K^T / sqrt(d)) V per head, then an output projection."""

    def __init__(self, random: np.random.RandomState) -> None:
        grid = weights(2.0**-4)
        unit = STREAM.scale * grid.scale
        self.inputs = {
            name: (
                Dense(name, WIDTH, WIDTH, grid, random),
                Quantiser(name, (WIDTH,), unit, OPERAND),
            )
            for name in HEAD_AXES
        }
        self.score_scale = Tensor(np.float32(SCORE_SCALE))
        self.softmax = Softmax("softmax", PROBABILITY)
        self.mix = Quantiser("mix", (WIDTH,), PROBABILITY.scale * OPERAND.scale, MIXED)
        self.output = Dense("project", WIDTH, WIDTH, grid, random)
        self.output_quantiser = Quantiser("project", (WIDTH,), MIXED.scale * grid.scale, STREAM)
        first: list[Layer] = [layer for pair in self.inputs.values() for layer in pair]
        super().__init__("attention", [*first, self.softmax, self.mix, self.output, self.output_quantiser])

    def forward(self, x: Tensor, quantised: bool = True) -> Tensor:
        """Let each token (N, TOKENS, WIDTH) gather from all tokens."""
        heads = self.heads(x, quantised)
        scores = self.named("scores", heads["query"] @ heads["key"])
        probability = self.softmax(self.named("scale", scores * self.score_scale), quantised)
        mixed = self.mix(self.merge(self.named("mix", probability @ heads["value"])), quantised)
        given: Tensor = self.output_quantiser(self.output(mixed, quantised), quantised)
        return given

    def heads(self, x: Tensor, quantised: bool) -> dict[str, Tensor]:
        """Return queries, keys and values, (N, HEADS, ...) in the axes that they are multiplied in."""
        ways = Tensor.apply(_FORK, [x]) if self.output.frozen is None else (x, x, x)
        return {
            name: self.split(name, quantiser(dense(way, quantised), quantised))
            for way, (name, (dense, quantiser)) in zip(ways, self.inputs.items(), strict=True)
        }

    def split(self, name: str, x: Tensor) -> Tensor:
        """Bring tokens (N, TOKENS, WIDTH) to heads."""
        apart = functional.reshape(x, (-1, TOKENS, HEADS, WIDTH // HEADS))
        turned = functional.transpose(self.named(f"{name}_split", apart), HEAD_AXES[name])
        return self.named(f"{name}_transpose", turned)

    def merge(self, x: Tensor) -> Tensor:
        """Bring heads (N, HEADS, TOKENS, WIDTH / HEADS) back to tokens."""
        turned = self.named("mix_transpose", functional.transpose(x, (0, 2, 1, 3)))
        return self.named("mix_merge", functional.reshape(turned, (-1, TOKENS, WIDTH)))


class Encoder(Block):
    """Rows to logits: embedding, attention and feed-forward with residual sums and norms, pooling, classes."""

    def __init__(self, seed: int) -> None:
        random = np.random.RandomState(seed)
        narrow, fine = weights(2.0**-4), weights(2.0**-5)
        self.centre = Tensor(np.float32(-8.0))
        self.embed = Dense("embed", PIXELS, WIDTH, fine, random)
        self.position = Quantiser("position", (TOKENS, WIDTH), INPUT.scale * fine.scale, STREAM)
        self.position.latent.data = random.standard_normal((TOKENS, WIDTH)) * 0.5
        self.attention = Attention(random)
        self.norm1 = LayerNorm("norm1", WIDTH, STREAM)
        self.expand = Dense("expand", WIDTH, HIDDEN, narrow, random)
        self.rectify = Quantiser("expand", (HIDDEN,), STREAM.scale * narrow.scale, RECTIFIED)
        self.contract = Dense("contract", HIDDEN, WIDTH, narrow, random)
        self.contracted = Quantiser("contract", (WIDTH,), RECTIFIED.scale * narrow.scale, STREAM)
        self.norm2 = LayerNorm("norm2", WIDTH, FEATURES)
        # Its scale makes the logits integers: the sum of the tokens in place of their mean.
        self.classify = Dense("classify", WIDTH, CLASSES, weights(TOKENS / FEATURES.scale), random)
        layers: list[Layer] = [self.embed, self.position, self.attention, self.norm1, self.expand]
        layers += [self.rectify, self.contract, self.contracted, self.norm2, self.classify]
        super().__init__("encoder", layers)

    def forward(self, images: Tensor, quantised: bool = True) -> Tensor:
        """Compute logits (N, 10) of images (N, 8, 8), integers 0 to 16."""
        x = self.named("centre", images + self.centre)
        x = self.named("image_quant", INPUT.round(x)) if quantised else INPUT.clip(x)
        x = self.position(self.embed(x, quantised), quantised)
        attended = self.attention(x, quantised)
        x = self.norm1(self.named("add1", x + attended), quantised)
        hidden = self.rectify(self.expand(x, quantised), quantised)
        fed = self.contracted(self.contract(hidden, quantised), quantised)
        x = self.norm2(self.named("add2", x + fed), quantised)
        logits: Tensor = self.classify(self.named("pool", functional.mean(x, axis=1)), quantised)
        return logits

    @no_grad()
    def compute(self, images: Array, quantised: bool = True) -> Array:
        """Compute logits as an array, without the tape."""
        return np.asarray(self(Tensor(images), quantised).numpy())

    def predict(self, images: Array, quantised: bool = True) -> Labels:
        """Return the class of each image: the first of the greatest logits."""
        return np.asarray(self.compute(images, quantised).argmax(axis=1))
