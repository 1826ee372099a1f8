"""An embedding model in the ONNX format, run in this process: a folder with `model.onnx` and the `tokenizer.json` beside it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agents.core.errors import ConfigError
from agents.memory.embedders import as_bytes
from agents.memory.knowledge import MemoryDown

LONGEST = 256
"""Tokens of a text that are read: more than any fact has."""
AT_ONCE = 16
"""Texts of one call: more take memory and no less time."""


class OnnxEmbedder:
    """Sentence transformers as they are commonly exported: the mean of the last layer over the words.

    Args:
        folder: where the model lies; its name and the file's size tell it from others.

    Raises:
        ConfigError: the packages or the files are missing, or the model is none of that kind.
    """

    dimensions = 0

    def __init__(self, folder: Path) -> None:
        try:
            import numpy
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ConfigError("DOSSIER_EMBEDDER=onnx:… needs the extra: pip install '.[onnx]'.") from error
        model, words = folder / "model.onnx", folder / "tokenizer.json"
        try:
            self.id = f"onnx:{folder.name}:{model.stat().st_size}"
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1  # a search shall not take the machine from the research beside it
            self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(str(words))
            self._tokenizer.enable_truncation(LONGEST)
            self._tokenizer.enable_padding()
            self._numpy, self._takes = numpy, {one.name for one in self._session.get_inputs()}
            self._embedded(["a text"])  # its size is known from now on
        except Exception as error:
            # Both libraries raise whatever their native halves do.
            raise ConfigError(f"DOSSIER_EMBEDDER: the model in {folder} can't be used: {error}") from error

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        try:
            return await asyncio.to_thread(self._embedded, texts)
        except Exception as error:
            raise MemoryDown(f"the embedding model {self.id} gave no answer: {error}") from error

    def _embedded(self, texts: Sequence[str]) -> list[bytes]:
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
            self.dimensions = int(means.shape[1])
            found += [as_bytes(mean.tolist()) for mean in means]
        return found
