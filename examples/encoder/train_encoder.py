"""Train the digits encoder and write everything that the example uses.

    python examples/encoder/train_encoder.py [--output FOLDER]

Writes encoder.onnx, the held-out images, their labels, the float model's logits and accuracy.json. Needs BrainSmith,
scikit-learn (which brings threadpoolctl), and the digits example beside this one for its split of the data, its
layers and its ops; takes two minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent / "digits"))

from digits_data import Array, Digits, load
from encoder_export import export
from encoder_network import Encoder
from encoder_training import Schedule, train
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

SCHEDULE = Schedule(epochs=200, seed=1, temperature=64.0, rate=0.02)


def measure(network: Encoder, digits: Digits) -> dict[str, float | int]:
    """Return the accuracies of the quantised network and of the float model, and how far the two are apart."""
    train_x, test_x = digits.train_x[..., 0], digits.test_x[..., 0]
    logits, exact = network.compute(test_x), network.compute(test_x, quantised=False)
    right, right_exact = logits.argmax(axis=1) == digits.test_y, exact.argmax(axis=1) == digits.test_y
    errors = np.abs(logits - exact)
    ordered = np.sort(logits, axis=1)
    return {
        "train_samples": len(train_x),
        "train_accuracy": round(float((network.predict(train_x) == digits.train_y).mean()), 4),
        "test_samples": len(test_x),
        "test_correct": int(right.sum()),
        "test_accuracy": round(float(right.mean()), 4),
        "test_ties": int((ordered[:, -1] == ordered[:, -2]).sum()),
        "float_test_correct": int(right_exact.sum()),
        "float_test_accuracy": round(float(right_exact.mean()), 4),
        "float_agreement": int((logits.argmax(axis=1) == exact.argmax(axis=1)).sum()),
        "float_max_error": round(float(errors.max()), 4),
        "float_mean_error": round(float(errors.mean()), 4),
        "logits_deviation": round(float(logits.std()), 4),
    }


def write_test_set(images: Array, labels: np.ndarray, exact: Array, folder: Path) -> None:
    """Write the held-out images (N, 8, 8), their labels (N,) and the float model's logits (N, 10)."""
    np.save(folder / "encoder_x.npy", images.astype(np.uint8))
    np.save(folder / "encoder_y.npy", labels)
    np.save(folder / "encoder_float_y.npy", exact.astype(np.float32))


def main() -> None:
    """Train, export and measure the network."""
    parser = argparse.ArgumentParser(description="Train the digits encoder.")
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).parent, help="default: beside this script"
    )
    folder: Path = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    digits = load()
    network = Encoder(SCHEDULE.seed)
    with threadpool_limits(1):  # the matrices are too small for more, and waiting threads cost
        train(network, digits, SCHEDULE)
        accuracy = measure(network, digits)
        exact = network.compute(digits.test_x[..., 0], quantised=False)
    export(network, folder / "encoder.onnx")
    write_test_set(digits.test_x[..., 0], digits.test_y, exact, folder)
    print(f"encoder: {accuracy}")
    (folder / "accuracy.json").write_text(json.dumps(accuracy, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
