"""Train the digits networks and write everything that the examples use.

    python examples/digits/train.py [--output FOLDER]

Writes mlp.onnx, cnn.onnx, residual.onnx, binary_mlp.onnx, the held-out images in the MLPs' and the CNNs' input
layout, their labels and accuracy.json. Needs numpy, onnx and scikit-learn (which brings threadpoolctl); takes about
a minute on one core. The same bytes come out on every machine.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from binary_export import export_binary
from binary_layers import BinaryDense, SignActivation
from digits_data import Digits, load
from pooling import GlobalSum, MaxPool
from qonnx_export import export
from quantised_network import Activation, Conv, Dense, Layer, Network
from residual import Residual
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from training import Schedule, train

MLP_SCHEDULE = Schedule(epochs=300, seed=1, temperature=16.0, rate=0.06)
CNN_SCHEDULE = Schedule(epochs=100, seed=1, temperature=32.0, rate=0.1)
RESIDUAL_SCHEDULE = Schedule(epochs=60, seed=1, temperature=32.0, rate=0.1)
BINARY_MLP_SCHEDULE = Schedule(epochs=100, seed=1, temperature=16.0, rate=0.01, move=0)


def build_mlp(seed: int) -> Network:
    """Make the MLP 64-64-32-10: weights and activations of 3 bits."""
    random = np.random.RandomState(seed)
    return Network(
        "mlp",
        [
            Dense("fc1", 64, 64, bits=3, random=random),
            Activation("fc1", 64, shift=4, bits=3),
            Dense("fc2", 64, 32, bits=3, random=random),
            Activation("fc2", 32, shift=3, bits=3),
            Dense("fc3", 32, 10, bits=3, random=random),
        ],
    )


def build_cnn(seed: int) -> Network:
    """Make the CNN: two 3x3 convolutions, a max-pool behind each (8x8 -> 4x4 -> 2x2), and an arg-max at the end.

    Weights have 3 bits, activations 4.
    """
    random = np.random.RandomState(seed)
    return Network(
        "cnn",
        [
            Conv("conv1", (1, 16), stride=1, pad=1, bits=3, random=random),
            Activation("conv1", 16, shift=3, bits=4),
            MaxPool("pool1"),
            Conv("conv2", (16, 32), stride=1, pad=1, bits=3, random=random),
            Activation("conv2", 32, shift=5, bits=4),
            MaxPool("pool2"),
            Dense("fc", 128, 10, bits=3, random=random),
        ],
        labels=True,
    )


def build_residual(seed: int) -> Network:
    """Make the residual CNN: a convolution and a max-pool, two convolutions with a shortcut, a mean, an arg-max.

    Weights have 3 bits, activations 4; so has what becomes of the sum.
    """
    random = np.random.RandomState(seed)
    size = 24
    block: list[Layer] = [
        Conv("conv2", (size, size), stride=1, pad=1, bits=3, random=random),
        Activation("conv2", size, shift=5, bits=4),
        Conv("conv3", (size, size), stride=1, pad=1, bits=3, random=random),
        Activation("conv3", size, shift=5, bits=4),
    ]
    return Network(
        "residual",
        [
            Conv("conv1", (1, size), stride=1, pad=1, bits=3, random=random),
            Activation("conv1", size, shift=3, bits=4),
            MaxPool("pool"),
            Residual("block", block),
            Activation("sum", size, shift=1, bits=4),
            GlobalSum("mean"),
            Dense("fc", size, 10, bits=3, random=random),
        ],
        labels=True,
    )


def build_binary_mlp(seed: int) -> Network:
    """Make the MLP 64-256-128-10 of 1-bit weights and activations; it ends in an arg-max."""
    random = np.random.RandomState(seed)
    return Network(
        "binary_mlp",
        [
            BinaryDense("fc1", 64, 256, random),
            SignActivation("fc1", 256, shift=5),
            BinaryDense("fc2", 256, 128, random),
            SignActivation("fc2", 128, shift=4),
            BinaryDense("fc3", 128, 10, random),
        ],
        labels=True,
    )


def measure(network: Network, digits: Digits) -> dict[str, float | int]:
    """Return the accuracies, and how many held-out images have two equal greatest logits."""
    logits = np.sort(network.forward(digits.test_x), axis=1)
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
    networks = (
        (build_mlp, MLP_SCHEDULE, export),
        (build_cnn, CNN_SCHEDULE, export),
        (build_residual, RESIDUAL_SCHEDULE, export),
        (build_binary_mlp, BINARY_MLP_SCHEDULE, export_binary),
    )
    for build, schedule, write in networks:
        network = build(schedule.seed)
        with threadpool_limits(1):  # the matrices are too small for more, and waiting threads cost
            train(network, digits, schedule)
        accuracy[network.name] = measure(network, digits)
        write(network, folder / f"{network.name}.onnx")
        print(f"{network.name}: {accuracy[network.name]}")
    write_test_set(digits, folder)
    (folder / "accuracy.json").write_text(json.dumps(accuracy, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
