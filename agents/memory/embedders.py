"""Texts to directions: the table that ships, or any embedding model that litellm knows. Each names itself and its size."""

import math
import struct
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from agents.core.errors import ModelError
from agents.llm.litellm_model import embed_texts
from agents.memory.knowledge import MemoryDown
from agents.nlp.embeddings import DIMENSIONS, TABLE, direction

EMBED_S = 20.0
"""Seconds that a model of a provider gets for one batch."""


class Embedder(Protocol):
    """Gives texts directions. Those of two embedders, told apart by `id`, are never compared."""

    id: str
    dimensions: int
    """0 until a model has answered once."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give each text its direction as signed bytes; empty where it has none.

        Raises:
            MemoryDown: the model can't be asked.
        """
        ...


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
    """Choose the embedder that a setting names; empty is the table that ships.

    Raises:
        ConfigError: a model of one's own can't be used.
    """
    if name.startswith("onnx:"):
        from agents.memory.onnx_embedder import OnnxEmbedder

        return OnnxEmbedder(Path(name.removeprefix("onnx:")))
    return LiteLLMEmbedder(name) if name else StaticEmbedder()


def as_bytes(vector: Sequence[float]) -> bytes:
    """Write a vector as signed bytes, the largest part ±127; empty for one without direction."""
    largest = max(map(abs, vector), default=0.0)
    if not largest or not math.isfinite(largest):
        return b""
    return array("b", [round(127 * one / largest) for one in vector]).tobytes()


def signs(vector: bytes) -> int:
    """Give the signs of a direction as bits: two texts that point the same way differ in few of them."""
    bits = 0
    for one in struct.unpack(f"{len(vector)}b", vector):
        bits = bits << 1 | (one > 0)
    return bits
