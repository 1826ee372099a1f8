"""A model of one's own behind the knowledge base: a table of twenty-four words as an ONNX file, made for these tests."""

from pathlib import Path

import pytest

from agents.contracts.fact import Selection
from agents.core.errors import ConfigError
from agents.memory.embedders import StaticEmbedder, embedder_of
from agents.memory.sql_knowledge import SqlKnowledge
from agents.nlp.similarity import closeness
from tests.memory.test_knowledge import ALL, BRIDGE, ME

FOLDER = Path(__file__).parents[1] / "data" / "embedder"


async def test_a_text_has_the_mean_of_its_words_whoever_it_is_asked_with():
    model = embedder_of(f"onnx:{FOLDER}")
    long, (short,) = "the bridge was opened in 1931", await model.embed(["goat cheese"])

    again, beside, nothing = await model.embed(["cheese goat", long, ""])

    assert (again, model.dimensions) == (short, 8)
    assert closeness(short, again) > closeness(short, beside)
    assert nothing == b""
    assert model.id.startswith("onnx:embedder:")


async def test_what_the_shipped_table_embedded_is_embedded_anew_and_found(tmp_path):
    before = SqlKnowledge(tmp_path, StaticEmbedder())
    await before.put(ME, ALL)
    await before.close()
    after = SqlKnowledge(tmp_path, embedder_of(f"onnx:{FOLDER}"))

    assert await after.reembed(ME) == 3
    found = await after.search(ME, "bridge tracks", Selection())
    assert (found[0].text, (await after.stats(ME)).dimensions) == (BRIDGE.text, 8)
    await after.close()


@pytest.mark.parametrize("there", [(), ("model.onnx",), ("tokenizer.json",)])
def test_a_folder_that_holds_no_model_is_said(tmp_path, there):
    for name in there:
        (tmp_path / name).write_bytes(b"nothing of the kind")
    with pytest.raises(ConfigError, match=r"DOSSIER_EMBEDDER: the model in .* can't be used"):
        embedder_of(f"onnx:{tmp_path}")
