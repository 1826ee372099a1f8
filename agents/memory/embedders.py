"""Texts to directions: the table that ships, or any embedding model that litellm knows. Each names itself and its size.

An embedding model in the ONNX format, run in this process: a folder with `model.onnx` and the `tokenizer.json` beside it.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agents.core.errors import ConfigError, ModelError
from agents.llm.litellm_model import embed_texts
from agents.memory.knowledge import Embedder, MemoryDown
from agents.nlp.meaning import SentenceModel, as_bytes
from agents.nlp.similarity import DIMENSIONS, TABLE, direction

EMBED_S = 20.0  # seconds that a model of a provider gets for one batch


class StaticEmbedder:
    """The table that ships: English first, no model at run time, a tenth of a millisecond a sentence."""

    id, dimensions = TABLE, DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [direction(text) for text in texts]


class LiteLLMEmbedder:
    """An embedding model of a provider, or of a server of one's own."""

    def __init__(self, model: str) -> None:
        self.id, self.dimensions = model, 0

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        try:
            found = await embed_texts(self.id, list(texts), timeout_s=EMBED_S)
        except ModelError as error:
            raise MemoryDown(f"the embedding model {self.id} can't be asked: {error.notice}") from error
        sizes = {len(one) for one in found}
        if len(found) != len(texts) or len(sizes) > 1 or (self.dimensions and sizes - {self.dimensions}):
            raise MemoryDown(f"the embedding model {self.id} gave vectors of another size than before")
        self.dimensions = next(iter(sizes), self.dimensions)
        return [as_bytes(one) for one in found]


def embedder_of(name: str) -> Embedder:
    """Choose the embedder that a setting names, empty being the table that ships; a `ConfigError` where it can't be used."""
    if name.startswith("onnx:"):
        return OnnxEmbedder(Path(name.removeprefix("onnx:")))
    return LiteLLMEmbedder(name) if name else StaticEmbedder()


def signs(vector: bytes) -> bytes:
    """Give the signs of a direction as bits, in whole words of 64: two texts that point the same way differ in few of them."""
    bits = "".join("01"[0 < one < 128] for one in vector)
    return int(bits or "0", 2).to_bytes(-(-len(vector) // 64) * 8, "big")


def cosines(vector: bytes, rows: Sequence[tuple[int, bytes]]) -> dict[int, float]:
    """Hold numbered directions against one; those of another size are left out."""
    alike = [row for row in rows if len(row[1]) == len(vector)]
    if not alike or not vector:
        return {}
    import numpy as np  # not before there is something to compare: it costs a tenth of a second, and 20 MB

    found = np.frombuffer(b"".join(one for _, one in alike), np.int8).reshape(len(alike), -1).astype(np.float32)
    wanted = np.frombuffer(vector, np.int8).astype(np.float32)
    near = found @ wanted / (np.linalg.norm(found, axis=1) * np.linalg.norm(wanted))
    return dict(zip((n for n, _ in alike), near.tolist(), strict=True))


class OnnxEmbedder:
    """A sentence transformer of one's own, as they are commonly exported; a `ConfigError` where it can't be used."""

    def __init__(self, folder: Path) -> None:
        try:
            self.id = f"onnx:{folder.name}:{(folder / 'model.onnx').stat().st_size}"
            self._model = SentenceModel(folder)
            self.dimensions = len(self._model.directions(["a text"])[0])
        except Exception as error:
            # Both libraries raise whatever their native halves do.
            raise ConfigError(f"DOSSIER_EMBEDDER: the model in {folder} can't be used: {error}") from error

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        try:
            return await asyncio.to_thread(self._model.directions, texts)
        except Exception as error:
            raise MemoryDown(f"the embedding model {self.id} gave no answer: {error}") from error
