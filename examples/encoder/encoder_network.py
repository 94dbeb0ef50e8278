"""One transformer encoder block over the rows of an image, and a classifier of the pooled tokens."""

from __future__ import annotations

import numpy as np
from encoder_layers import Array, Dense, Grid, LayerNorm, Parameter, Quantiser, Softmax
from numpy.typing import NDArray

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


def weights(scale: float) -> Grid:
    """Return the grid of weights of 4 bits."""
    return Grid(4, scale, narrow=True)


class Attention:
    """Multi-head attention: softmax(Q K^T / sqrt(d)) V per head, then an output projection."""

    def __init__(self, random: np.random.RandomState) -> None:
        grid = weights(2.0**-4)
        unit = STREAM.scale * grid.scale
        self.inputs = {
            name: (
                Dense(name, WIDTH, WIDTH, grid, random),
                Quantiser(name, (WIDTH,), unit, OPERAND),
            )
            for name in ("query", "key", "value")
        }
        self.softmax = Softmax("attend", PROBABILITY)
        self.mix = Quantiser("mix", (WIDTH,), PROBABILITY.scale * OPERAND.scale, MIXED)
        self.output = Dense("project", WIDTH, WIDTH, grid, random)
        self.output_quantiser = Quantiser("project", (WIDTH,), MIXED.scale * grid.scale, STREAM)

    def forward(self, x: Array, quantised: bool) -> Array:
        """Let each token (N, TOKENS, WIDTH) gather from all tokens."""
        self.heads = {
            name: split(quantiser.forward(dense.forward(x, quantised), quantised))
            for name, (dense, quantiser) in self.inputs.items()
        }
        scores = self.heads["query"] @ self.heads["key"].swapaxes(-1, -2)
        self.probability = self.softmax.forward(scores * SCORE_SCALE, quantised)
        mixed = self.mix.forward(merge(self.probability @ self.heads["value"]), quantised)
        return self.output_quantiser.forward(self.output.forward(mixed, quantised), quantised)

    def backward(self, gradient: Array) -> Array:
        """Return the gradient of the tokens."""
        mixed = self.output.backward(self.output_quantiser.backward(gradient))
        per_head = split(self.mix.backward(mixed))
        scores = self.softmax.backward(per_head @ self.heads["value"].swapaxes(-1, -2)) * SCORE_SCALE
        gradients = {
            "query": scores @ self.heads["key"],
            "key": scores.swapaxes(-1, -2) @ self.heads["query"],
            "value": self.probability.swapaxes(-1, -2) @ per_head,
        }
        total = np.zeros_like(gradient)
        for name, (dense, quantiser) in self.inputs.items():
            total += dense.backward(quantiser.backward(merge(gradients[name])))
        return total

    def parameters(self) -> list[Parameter]:
        """List what is trained."""
        first: list[Dense | Quantiser] = [layer for pair in self.inputs.values() for layer in pair]
        layers = [*first, self.mix, self.output, self.output_quantiser]
        return [parameter for layer in layers for parameter in layer.parameters()]


class Encoder:
    """Rows to logits: embedding, attention and feed-forward with residual sums and norms, pooling, classes."""

    def __init__(self, seed: int) -> None:
        random = np.random.RandomState(seed)
        narrow, fine = weights(2.0**-4), weights(2.0**-5)
        self.embed = Dense("embed", PIXELS, WIDTH, fine, random)
        self.position = Quantiser("position", (TOKENS, WIDTH), INPUT.scale * fine.scale, STREAM)
        self.position.latent.value = random.standard_normal((TOKENS, WIDTH)) * 0.5
        self.attention = Attention(random)
        self.norm1 = LayerNorm("norm1", WIDTH, STREAM)
        self.expand = Dense("expand", WIDTH, HIDDEN, narrow, random)
        self.rectify = Quantiser("expand", (HIDDEN,), STREAM.scale * narrow.scale, RECTIFIED)
        self.contract = Dense("contract", HIDDEN, WIDTH, narrow, random)
        self.contracted = Quantiser("contract", (WIDTH,), RECTIFIED.scale * narrow.scale, STREAM)
        self.norm2 = LayerNorm("norm2", WIDTH, FEATURES)
        # Its scale makes the logits integers: the sum of the tokens in place of their mean.
        self.classify = Dense("classify", WIDTH, CLASSES, weights(TOKENS / FEATURES.scale), random)

    def forward(self, images: Array, quantised: bool = True) -> Array:
        """Compute logits (N, 10) of images (N, 8, 8), integers 0 to 16."""
        x = INPUT.round(images - 8.0) if quantised else INPUT.clip(images - 8.0)
        x = self.position.forward(self.embed.forward(x, quantised), quantised)
        x = self.norm1.forward(x + self.attention.forward(x, quantised), quantised)
        hidden = self.rectify.forward(self.expand.forward(x, quantised), quantised)
        fed = self.contracted.forward(self.contract.forward(hidden, quantised), quantised)
        x = self.norm2.forward(x + fed, quantised)
        return self.classify.forward(x.mean(axis=1), quantised)

    def backward(self, gradient: Array) -> None:
        """Fill all gradients from that of the logits of the quantised network."""
        pooled = self.classify.backward(gradient) / TOKENS
        x = self.norm2.backward(np.repeat(pooled[:, np.newaxis], TOKENS, axis=1))
        fed = self.contract.backward(self.contracted.backward(x))
        x = self.norm1.backward(x + self.expand.backward(self.rectify.backward(fed)))
        self.embed.backward(self.position.backward(x + self.attention.backward(x)))

    def parameters(self) -> list[Parameter]:
        """List what is trained, first layer first."""
        layers: list[Dense | Quantiser | Attention | LayerNorm]
        layers = [self.embed, self.position, self.attention, self.norm1, self.expand, self.rectify]
        layers += [self.contract, self.contracted, self.norm2, self.classify]
        return [parameter for layer in layers for parameter in layer.parameters()]

    def predict(self, images: Array, quantised: bool = True) -> NDArray[np.int64]:
        """Return the class of each image: the first of the greatest logits."""
        return np.asarray(self.forward(images, quantised).argmax(axis=1))


def split(x: Array) -> Array:
    """Bring tokens (N, TOKENS, WIDTH) to heads (N, HEADS, TOKENS, WIDTH / HEADS)."""
    return x.reshape(len(x), x.shape[1], HEADS, -1).transpose(0, 2, 1, 3)


def merge(x: Array) -> Array:
    """Bring heads back to tokens."""
    return x.transpose(0, 2, 1, 3).reshape(len(x), x.shape[2], -1)
