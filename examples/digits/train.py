"""Train the digits networks and write everything that the examples use.

    python examples/digits/train.py [--output FOLDER]

Writes mlp.onnx, cnn.onnx, residual.onnx, binary_mlp.onnx, the held-out images in the MLPs' and the CNNs' input
layout, their labels and accuracy.json. Needs scikit-learn (which brings threadpoolctl) beside Brainsmith; takes about
two minutes on one core. The same bytes come out on every machine.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from digits_data import Digits, load
from quantised_layers import Activation, Conv, Dense, Layer
from quantised_network import MaxPool, Mean, Network, Residual
from training import Schedule, train

VECTOR, IMAGE = (1, 64), (1, 1, 8, 8)
"""What the graphs take: pixels in a row, or an image, NCHW."""

SCHEDULES = {
    "mlp": Schedule(epochs=300, seed=1, temperature=16.0, rate=0.06),
    "cnn": Schedule(epochs=100, seed=1, temperature=32.0, rate=0.1),
    "residual": Schedule(epochs=60, seed=1, temperature=32.0, rate=0.1),
    "binary_mlp": Schedule(epochs=100, seed=1, temperature=16.0, rate=0.01, move=0),
}


def build_mlp(seed: int) -> Network:
    """Make the MLP 64-64-32-10: weights and activations of 3 bits; it gives logits."""
    random = np.random.RandomState(seed)
    layers: list[Layer] = [
        Dense("fc1", 64, 64, bits=3, random=random),
        Activation("fc1", (64,), shift=4, bits=3),
        Dense("fc2", 64, 32, bits=3, random=random),
        Activation("fc2", (32,), shift=3, bits=3),
        Dense("fc3", 32, 10, bits=3, random=random),
    ]
    return Network("mlp", VECTOR, layers, labels=False)


def build_cnn(seed: int) -> Network:
    """Make the CNN: two 3x3 convolutions, a max-pool behind each (8x8 -> 4x4 -> 2x2), and an arg-max at the end.

    Weights have 3 bits, activations 4.
    """
    random = np.random.RandomState(seed)
    layers: list[Layer] = [
        Conv("conv1", (1, 16), bits=3, random=random),
        Activation("conv1", (1, 16, 1, 1), shift=3, bits=4),
        MaxPool("pool1"),
        Conv("conv2", (16, 32), bits=3, random=random),
        Activation("conv2", (1, 32, 1, 1), shift=5, bits=4),
        MaxPool("pool2"),
        Dense("fc", 128, 10, bits=3, random=random, channels=32),
    ]
    return Network("cnn", IMAGE, layers)


def build_residual(seed: int) -> Network:
    """Make the residual CNN: a convolution and a max-pool, two convolutions with a shortcut, a mean, an arg-max.

    Weights have 3 bits, activations 4; so has what becomes of the sum.
    """
    random = np.random.RandomState(seed)
    size = 24
    bias = (1, size, 1, 1)
    block: list[Layer] = [
        Conv("conv2", (size, size), bits=3, random=random),
        Activation("conv2", bias, shift=5, bits=4),
        Conv("conv3", (size, size), bits=3, random=random),
        Activation("conv3", bias, shift=5, bits=4),
    ]
    layers: list[Layer] = [
        Conv("conv1", (1, size), bits=3, random=random),
        Activation("conv1", bias, shift=3, bits=4),
        MaxPool("pool"),
        Residual("block", block),
        Activation("sum", bias, shift=1, bits=4),
        Mean("mean", pixels=16),
        Dense("fc", size, 10, bits=3, random=random),
    ]
    return Network("residual", IMAGE, layers)


def build_binary_mlp(seed: int) -> Network:
    """Make the MLP 64-256-128-10 of 1-bit weights and activations; it ends in an arg-max."""
    random = np.random.RandomState(seed)
    layers: list[Layer] = [
        Dense("fc1", 64, 256, bits=1, random=random),
        Activation("fc1", (256,), shift=5, bits=1),
        Dense("fc2", 256, 128, bits=1, random=random),
        Activation("fc2", (128,), shift=4, bits=1),
        Dense("fc3", 128, 10, bits=1, random=random),
    ]
    return Network("binary_mlp", VECTOR, layers)


def measure(network: Network, digits: Digits) -> dict[str, float | int]:
    """Return the accuracies, and how many held-out images have two equal greatest logits."""
    logits = np.sort(network.logits(digits.test_x).data, axis=1)
    return {
        "train_samples": len(digits.train_x),
        "train_accuracy": round(float((network.predict(digits.train_x) == digits.train_y).mean()), 4),
        "test_samples": len(digits.test_x),
        "test_correct": int((network.predict(digits.test_x) == digits.test_y).sum()),
        "test_accuracy": round(float((network.predict(digits.test_x) == digits.test_y).mean()), 4),
        "test_ties": int((logits[:, -1] == logits[:, -2]).sum()),
    }


def write_test_set(digits: Digits, folder: Path) -> None:
    """Write the held-out images, (N, 64) for the MLP and NCHW for the CNNs, and their labels."""
    pixels = digits.test_x.astype(np.uint8)
    np.save(folder / "digits_mlp_x.npy", pixels.reshape(len(pixels), 64))
    np.save(folder / "digits_cnn_x.npy", np.ascontiguousarray(pixels.transpose(0, 3, 1, 2)))
    np.save(folder / "digits_y.npy", digits.test_y)


def main() -> None:
    """Train, export and measure all networks."""
    parser = argparse.ArgumentParser(description="Train the digits example networks.")
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).parent, help="default: beside this script"
    )
    folder: Path = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    digits = load()
    accuracy = {}
    for build in (build_mlp, build_cnn, build_residual, build_binary_mlp):
        schedule = SCHEDULES[build.__name__.removeprefix("build_")]
        network = build(schedule.seed)
        train(network, digits, schedule)
        accuracy[network.name] = measure(network, digits)
        network.export(folder / f"{network.name}.onnx")
        print(f"{network.name}: {accuracy[network.name]}")
    write_test_set(digits, folder)
    (folder / "accuracy.json").write_text(json.dumps(accuracy, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
