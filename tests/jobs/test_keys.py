"""A model's key is missing or refused: the job rests and says which, goes on once there is one, and pays nothing twice."""

import asyncio
import os

import pytest

from agents.api.tree import Tree
from agents.chat.runs import progress_line
from agents.chat.texts import ChatTexts
from agents.core.errors import BadRequest, ModelError
from agents.core.settings import reread_keys
from tests.jobs.conftest import Given, Word, bench_of, opened, until

NOTICE = "There is no key for the model provider. Put one into SOME_API_KEY in `.env`."


class Provider:
    """A model that wants a key, and a web that does not."""

    def __init__(self):
        self.key, self.made, self.slow, self.fetching = "", [], asyncio.Event(), asyncio.Event()

    async def ask(self, text):
        self.made.append(text)
        await self.fetching.wait()
        if not self.key:
            raise ModelError("401", fault="key", notice=NOTICE, model="some/model")
        return Word(text=text)

    async def fetch(self, text):
        self.made.append(text)
        self.fetching.set()
        await self.slow.wait()
        return Word(text=text)


def research(provider):
    """A job whose two branches fetch and ask; the second one's page is slow."""

    async def leaf(ctx, given):
        if given.n == 1:
            await ctx.call("fetch", "0", provider.fetch, "page", gives=Word, pool="web")
        return await ctx.call("extract", "0", provider.ask, f"extract{given.n}", gives=Word)

    async def root(ctx):
        await ctx.children("leaf", [(str(n), Given(n=n)) for n in range(2)], gives=Word)

    return bench_of(root, {"leaf": leaf})


async def test_a_job_without_a_key_rests_keeps_what_it_has_and_goes_on_when_it_is_resumed(tmp_path, url):
    provider = Provider()
    async with opened(tmp_path, research(provider), url=url) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: job.blocked_reason == "awaiting_key", 30)
        provider.slow.set()  # what was under way is kept
        await until(lambda: job.run.halted, 30)
        row = await kept.jobs.store.job(job.id)
        assert (row.status, row.blocked_reason, job.error.notice) == ("blocked", "awaiting_key", NOTICE)
        assert row.note.startswith(NOTICE)
        assert list(await kept.jobs.store.steps(job.id)) == ["job/1#fetch:0"]

        provider.key = "given"
        assert await kept.jobs.order(job, "resume") is job
        await kept.ended(job, 30)
        assert (job.status, job.error) == ("done", None)
        assert sorted(provider.made) == ["extract0", "extract0", "extract1", "page"]
        with pytest.raises(BadRequest, match="waits for a key"):
            await kept.jobs.order(job, "resume")


async def test_it_goes_on_by_itself_when_the_program_is_started_with_a_key(tmp_path, url):
    provider = Provider()
    provider.slow.set()
    async with opened(tmp_path, research(provider), url=url) as kept:
        job = await kept.start()
        await until(lambda: job.blocked_reason == "awaiting_key", 30)
        await until(lambda: job.run.halted, 30)
    async with opened(tmp_path, research(provider), url=url) as kept:
        again = await kept.jobs.find(job.id)
        before = len(provider.made)
        await until(lambda: len(provider.made) > before, 30)
        await until(lambda: again.blocked_reason == "awaiting_key", 30)  # it was tried, and there is still none
        await until(lambda: again.run.halted, 30)
        assert again.error is not None
    provider.key = "given"
    async with opened(tmp_path, research(provider), url=url) as kept:
        done = await kept.ended(await kept.jobs.find(job.id), 30)
        assert done.status == "done"
    assert provider.made.count("page") == 1


async def test_it_can_be_stopped_and_its_place_is_given_to_others(tmp_path):
    provider = Provider()
    provider.slow.set()
    async with opened(tmp_path, research(provider), workers=1) as kept:
        job = await kept.start(owner="ann")
        await until(lambda: job.blocked_reason == "awaiting_key", 30)
        other = await kept.start(owner="bob")
        await until(lambda: other.blocked_reason == "awaiting_key", 30)
        kept.jobs.stop(job)
        await kept.ended(job, 30)
        assert job.status == "cancelled"


async def test_a_caller_who_waits_for_the_end_is_told_and_does_not_wait_for_a_key(tmp_path):
    provider = Provider()
    provider.slow.set()
    async with opened(tmp_path, research(provider)) as kept:
        job = await kept.start()
        seen = []
        async with asyncio.timeout(30):
            async for numbered in job.follow(attended=True):
                seen.append(numbered and numbered.event)
            await job.settled()
        assert seen[-1].blocked_reason == "awaiting_key"
        assert job.error.notice == NOTICE
        view = Tree(job.run.events).view()
        assert (view.status, view.blocked_reason) == ("blocked", "awaiting_key")
        assert NOTICE in view.note
        assert NOTICE in view.feed[-1].said
        assert NOTICE in progress_line(job, ChatTexts())


async def test_other_faults_of_a_model_are_failed_steps_as_ever(tmp_path):
    async def refused(text):
        raise ModelError("400", fault="request", notice="not accepted", model="some/model")

    async def root(ctx):
        await ctx.call("extract", "0", refused, "x", gives=Word)

    async with opened(tmp_path, bench_of(root)) as kept:
        job = await kept.ended(await kept.start(), 30)
        assert (job.status, job.notice) == ("failed", "not accepted")


def test_keys_are_read_anew_from_the_file_but_never_over_the_environment(tmp_path):
    file = tmp_path / ".env"
    os.environ["FIRST_API_KEY"] = "from the environment"
    file.write_text("FIRST_API_KEY=other\nSECOND_API_KEY=one\nDOSSIER_MODEL=a/b\n")
    model = os.environ.get("DOSSIER_MODEL")
    reread_keys(file)
    assert (os.environ["FIRST_API_KEY"], os.environ["SECOND_API_KEY"]) == ("from the environment", "one")
    file.write_text("SECOND_API_KEY=two\n")
    reread_keys(file)
    assert os.environ["SECOND_API_KEY"] == "two"
    assert os.environ.get("DOSSIER_MODEL") == model
