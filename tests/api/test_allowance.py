"""What one user and one address may ask: refused with 429, the seconds to wait, and a sentence; on loopback no limit."""

import asyncio

import pytest

from agents.api.app_state import ASKING, RateLimit, cost_of
from agents.core.errors import TooMany
from agents.core.settings import Settings
from tests.api.conftest import TASK, FlatWorker, Gate


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_an_allowance_comes_back_with_time_and_each_name_has_its_own():
    clock = Clock()
    allowance = RateLimit(60, clock)
    for _ in range(6):
        allowance.take("ann", ASKING)
    allowance.take("bob", ASKING)
    with pytest.raises(TooMany, match="Try again in 10 seconds") as refused:
        allowance.take("ann", ASKING)
    assert refused.value.retry_after_s == 10
    clock.now = 10.0
    allowance.take("ann", ASKING)
    with pytest.raises(TooMany):
        allowance.take("ann")


def test_a_request_that_costs_more_than_the_whole_allowance_is_possible_once_it_is_full():
    allowance = RateLimit(3, Clock())
    allowance.take("ann", ASKING)
    with pytest.raises(TooMany):
        allowance.take("ann")


def test_names_that_have_everything_back_are_forgotten():
    clock = Clock()
    allowance = RateLimit(60, clock)
    for number in range(10_000):
        allowance.take(f"address {number}")
    clock.now = 60.0
    allowance.take("one more")
    assert len(allowance._used) == 1


def test_asking_costs_more_than_reading_and_the_page_costs_nothing():
    costs = [cost_of("POST", "/run"), cost_of("POST", "/login"), cost_of("GET", "/research/jobs")]
    assert costs == [ASKING, ASKING, 1]
    assert cost_of("GET", "/assets/index.js") == cost_of("GET", "/") == 0
    assert cost_of("POST", "/project/file") == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_the_local_user_is_not_bounded_unless_told_so(host):
    assert (Settings(host=host).most_requests, Settings(host=host).most_jobs) == (0, 0)
    assert Settings(host=host, requests_per_minute=7).most_requests == 7
    assert (Settings(host="0.0.0.0").most_requests, Settings(host="0.0.0.0").most_jobs) == (600, 20)
    assert Settings(host="0.0.0.0", requests_per_minute=0).most_requests == 0


@pytest.mark.parametrize("key", ["", "no key of anybody's"])
async def test_who_asks_too_much_is_refused_with_the_seconds_to_wait(put, http, key):
    put(requests_per_minute=30)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answers = [await http.get("/research/jobs", headers=headers) for _ in range(31)]
    assert [one.status_code for one in answers[:30]] == [200] * 30
    assert answers[30].status_code == 429
    assert answers[30].headers["retry-after"] == "2"
    said = answers[30].json()["error"]
    assert (said["type"], said["retryable"]) == ("too_many", True)
    assert said["message"] == "Too much at once. Try again in 2 seconds."
    assert "content-security-policy" in answers[30].headers


async def test_a_user_is_bounded_over_all_addresses(put, http):
    site = put(requests_per_minute=30)
    site.allowance.take("user local", 25)
    refused = await http.post("/research/jobs", json={"query": TASK})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
    assert site.team.jobs.of("local") == []


async def test_guessing_keys_is_slow(put, http):
    put(requests_per_minute=30)
    tries = [(await http.post("/login", data={"username": "user", "password": str(n)})).status_code for n in range(5)]
    assert tries[3:] == [429, 429]
    assert 429 not in tries[:3]


async def test_a_user_has_so_many_runs_and_no_more_until_one_is_over(put, http):
    model = Gate(FlatWorker())
    site = put(model, jobs_per_user=1)
    first = await http.post("/research/jobs", json={"query": TASK})
    for path, sent in (("/research/jobs", {"query": TASK}), ("/run", {"task": TASK, "async": True})):
        refused = await http.post(path, json=sent)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
        assert refused.json()["error"]["message"].startswith("You have 1 runs waiting or at work")
    model.open.set()
    await asyncio.wait_for(site.team.jobs.get(first.json()["job_id"], "local").wait(), 30)
    assert (await http.post("/research/jobs", json={"query": TASK})).status_code == 202
