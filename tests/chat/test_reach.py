"""What the server says of web search once it was tried."""

from types import SimpleNamespace

import pytest

from agents.api.app_state import about, asked_of, try_web
from agents.core.settings import Settings
from agents.search.searcher import Probed
from agents.team import open_team


class Tried:
    """A team whose web search was tried."""

    def __init__(self, team, reachable):
        self.team = team
        probed = Probed(provider="web", host="search.example", reachable=reachable, reason="no answer")
        self.searcher = SimpleNamespace(probed=probed, destinations=("search.example",))

    def __getattr__(self, name):
        return getattr(self.team, name)

    async def probe(self):
        return self.searcher.probed


@pytest.mark.parametrize(("reachable", "named"), [(True, ""), (False, ""), (False, "tavily")])
async def test_what_is_searched_and_what_leaves_is_said_once_and_only_when_it_is_known(tmp_path, reachable, named):
    team = open_team(Settings(data_dir=tmp_path, model="offline", retriever=named))
    told = []
    await try_web(Tried(team, reachable), told.append)
    await team.close()

    (lines,) = told
    assert ("Web search could not be reached from here" in lines) is not reachable
    if reachable or named:
        assert ("a run tries it again" in lines) is not reachable
        assert "left out" not in lines
        assert "Search words go to" in lines
        assert "Nothing leaves this computer." not in lines
    else:
        assert "so it is left out" in lines
        assert "Nothing leaves this computer." in lines
        assert "Search words go to" not in lines


@pytest.mark.parametrize(
    ("kept", "named"),
    [
        ({"embedder": "mistral/mistral-embed"}, ("Mistral",)),
        ({"qdrant_url": "https://vectors.example:6333"}, ("https://vectors.example:6333",)),
        ({"qdrant_url": "http://localhost:6333"}, ()),
        ({"embedder": "mistral/mistral-embed", "memory": False}, ()),
    ],
)
async def test_whoever_serves_the_knowledge_base_is_named_among_those_that_words_go_to(tmp_path, kept, named):
    team = open_team(Settings(data_dir=tmp_path, model="offline", retriever="library", **kept))
    said = about(team)
    await team.close()

    assert asked_of(team) == named
    assert ("Nothing leaves this computer." in said.lines) is not bool(named)
