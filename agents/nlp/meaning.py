"""What a text means, read by a small model that runs in this process: all-MiniLM-L6-v2, which ships with the program.

The table of `similarity.py` adds words up, in a twentieth of a millisecond; the model reads them together, in ten, and knows
a question in other words than its answer's. So it weighs the few passages that may be shown, never a whole library. Both are
English, and of both the same holds: they put candidates in order, and never decide whether one answers.
"""

import math
import os
from array import array
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

SHIPPED = Path(__file__).parent / "minilm"
"""Its network and its word pieces; `README.md` beside this file says what they are made of."""
LONGEST = 256
"""Tokens of a text that are read."""
AT_ONCE = 16
"""Texts of one call: more take memory and no less time."""


class SentenceModel:
    """A sentence transformer in the ONNX format: the mean of the last layer over the words of a text.

    Raises:
        ImportError: the packages that run it are not installed.
        Exception: whatever their native halves raise where files are missing or of another kind.
    """

    def __init__(self, folder: Path) -> None:
        # Its builds report their use to their makers on every system; those for Windows look for no variable.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import numpy
        import onnxruntime
        from tokenizers import Tokenizer

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # a search shall not take the machine from the research beside it
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()
        self._numpy, self._takes = numpy, {one.name for one in self._session.get_inputs()}

    def directions(self, texts: Sequence[str]) -> list[bytes]:
        """Give the direction of each text as signed bytes, as `similarity.closeness` compares them."""
        found: list[bytes] = []
        for at in range(0, len(texts), AT_ONCE):
            read = self._tokenizer.encode_batch(list(texts[at : at + AT_ONCE]))
            given = {
                "input_ids": self._numpy.array([one.ids for one in read], dtype="int64"),
                "attention_mask": self._numpy.array([one.attention_mask for one in read], dtype="int64"),
                "token_type_ids": self._numpy.array([one.type_ids for one in read], dtype="int64"),
            }
            (last, *_) = self._session.run(None, {name: given[name] for name in self._takes if name in given})
            mask = given["attention_mask"][:, :, None]
            means = (last * mask).sum(axis=1) / mask.sum(axis=1).clip(min=1) if last.ndim == 3 else last
            found += [as_bytes(mean.tolist()) for mean in means]
        return found


@cache
def shipped() -> SentenceModel | None:
    """Give the model that ships, loaded once; none where this machine has no package that runs it."""
    try:
        return SentenceModel(SHIPPED)
    except ImportError:
        return None


def as_bytes(vector: Sequence[float]) -> bytes:
    """Write a vector as signed bytes, the largest part ±127; empty for one without direction."""
    largest = max(map(abs, vector), default=0.0)
    if not largest or not math.isfinite(largest):
        return b""
    return array("b", [round(127 * one / largest) for one in vector]).tobytes()


@lru_cache(8_192)  # a passage is held beside the questions of every section
def meaning(text: str) -> bytes:
    """Give the direction of a text as the shipped model reads it; empty where it can't be run."""
    model = shipped()
    return model.directions([text])[0] if model else b""
