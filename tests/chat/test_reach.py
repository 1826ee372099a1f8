"""What the server says of web search once it was tried."""

import pytest

from agents.api.app_state import Reach
from agents.core.settings import Settings
from agents.search.chain import Probed
from agents.team import open_team


class Tried:
    """A team whose web search was tried."""

    def __init__(self, team, reachable):
        self.team, self.reachable = team, reachable

    def __getattr__(self, name):
        return getattr(self.team, name)

    async def probe(self):
        return Probed(provider="web", host="search.example", reachable=self.reachable, reason="no answer")


@pytest.mark.parametrize("reachable", [True, False])
async def test_a_server_whose_web_search_cannot_be_reached_takes_back_what_it_said_of_it(tmp_path, reachable):
    team = open_team(Settings(data_dir=tmp_path, model="offline", retriever="tavily,library"))
    told = []
    reach = Reach(tell=told.append)

    await reach.ask(Tried(team, reachable))
    await team.close()

    assert reach.found.reachable is reachable
    if reachable:
        assert told == []
    else:
        assert "Web search can't be reached from here" in told[0]
        assert "Nothing leaves this computer." in told[0]
