"""docs/api.md: every command in it is typed again, in its order, and has to give what stands below it."""

import asyncio
import json
import re
import shlex
import time
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs" / "api.md"


def commands():
    """Commands with the status line and the answer that stand below them."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL):
        for part in re.split(r"(?m)^\$ ", block)[1:]:
            command, status, *answer = part.rstrip("\n").split("\n")
            found.append((command, status, "\n".join(answer)))
    return found


def request_of(command, job_id):
    """Read what curl would send."""
    words = iter(shlex.split(command.replace("$JOB", job_id)))
    assert next(words) == "curl"
    sent = {"method": "GET", "url": "", "headers": {}, "content": None}
    for word in words:
        if word == "-d":
            sent |= {"content": next(words), "method": "POST"}
        elif word == "-H":
            name, value = next(words).split(": ", 1)
            sent["headers"][name] = value
        elif word == "-X":
            sent["method"] = next(words)
        elif word == "-o":
            next(words)
        elif word not in {"-s", "-sN"}:
            sent["url"] = word.removeprefix("localhost:8000")
    return sent


def fits(told, written, place="answer"):
    """Hold an answer against what is written: what is written must be there, `…` stands for anything."""
    if written == "…":
        return
    if isinstance(written, dict):
        assert isinstance(told, dict), place
        for name, value in written.items():
            assert name in told, f"{place}.{name}"
            fits(told[name], value, f"{place}.{name}")
    elif isinstance(written, list):
        assert isinstance(told, list), place
        assert len(told) >= len(written), place
        assert written or not told, f"{place} is not empty: {told}"
        for number, value in enumerate(written):
            fits(told[number], value, f"{place}[{number}]")
    elif isinstance(written, str):
        pattern = ".*".join(re.escape(piece) for piece in written.split("…"))
        assert isinstance(told, str), place
        assert re.fullmatch(pattern, told, re.DOTALL), f"{place}: {told[:200]!r} is not {written!r}"
    else:
        assert told == written, place


def holds(text, written):
    """Hold a text against lines of which some are written: in their order, `…` for what is between or left out."""
    rest = text
    for line in written.split("\n"):
        if line.startswith("data: {"):
            name, found = re.search(r"(?m)^data: (\{.*\})$", rest), None
            assert name, line
            found = json.loads(name[1])
            fits(found, json.loads(line.removeprefix("data: ")))
            rest = rest[name.end() :]
        elif line != "…":
            pattern = ".*".join(re.escape(piece) for piece in line.split("…"))
            found = re.search(pattern, rest)
            assert found, f"{line!r} is not in {rest[:300]!r}"
            rest = rest[found.end() :]


async def test_every_command_of_the_page_gives_what_stands_below_it(put, http, tmp_path):
    from agents.jobs.blob_store import BlobStore
    from agents.jobs.client import Client
    from agents.memory.embedders import StaticEmbedder
    from agents.memory.sql_knowledge import SqlKnowledge
    from agents.offline import OfflineModel
    from agents.search.choose_searcher import SAMPLE_LIBRARY
    from agents.search.library import Library
    from tests.jobs.stored_at import stored_at

    class Patient(OfflineModel):
        """Reads a few sources, then no further while the commands that steer a running job are typed."""

        def __init__(self):
            self.open, self.some, self.left = asyncio.Event(), asyncio.Event(), 0
            self.open.set()

        async def reply(self, request, on_text=None):
            if request.role == "extractor" and not self.open.is_set():
                self.left -= 1
                if self.left < 0:
                    self.some.set()
                    await self.open.wait()
            return await super().reply(request, on_text)

    jobs = Client(BlobStore(tmp_path), time.monotonic, stored_at(tmp_path), per_job=6)
    model = Patient()
    library = Library((SAMPLE_LIBRARY,), tmp_path / "library.db", kind="sample", name="sample library")
    site = put(model, searcher=library, jobs=jobs)
    site.team.memory = SqlKnowledge(tmp_path / "memory", StaticEmbedder())
    await site.team.open()
    job_id = fact = ""
    for command, status, written in commands():
        if "/research/jobs -H" in command:
            model.open.clear()
            model.left = 1
        elif "/nodes/" in command:
            await asyncio.wait_for(model.some.wait(), 60)
        elif "/events" in command:
            model.open.set()
        elif "/restart" in command or "/cancel" in command:
            # The rework before it comes to its end first.
            await asyncio.wait_for((await jobs.find(job_id, "local")).wait(), 60)
        answer = await http.request(**request_of(command.replace("$FACT", fact), job_id))
        kind = answer.headers["content-type"].split(";")[0]
        assert f"{answer.status_code} {kind}" == status, f"{command}: {answer.text[:500]}"
        if kind == "application/json":
            told = answer.json()
            fits(told, json.loads(written), command)
            if "/research/jobs -H" in command:
                job_id = told["job_id"]
            elif "report.json" in command:
                fact = told["references"][0]["quotes"][0]["fact_id"]
            if answer.status_code == 202 and "/run" in command:
                await asyncio.wait_for(site.team.jobs.get(told["job_id"], "local").wait(), 60)
        elif written:
            holds(answer.text, written)
        else:
            assert answer.content, command


def test_the_page_names_every_route():
    from agents.api.routes import described

    text = DOCS.read_text("utf-8")
    missing = []
    for path in described()["paths"]:
        last = re.sub(r"/\{[^}]*\}", "", path).rsplit("/", 1)[-1]
        if last not in text and path not in {"/files/{element_id}/{name}", "/research/jobs/{job_id}/report.{form}"}:
            missing.append(path)
    assert not missing


def test_a_command_is_typed_at_every_route():
    from agents.api.routes import described

    typed = [
        (asked["method"], asked["url"].split("?")[0]) for asked in (request_of(one, "id") for one, _, _ in commands())
    ]
    missing = []
    for path, operations in described()["paths"].items():
        pattern = re.compile(
            re.sub(r"\{(node|job_id|fact_id|form|what|model|element_id|name|item_id)\}", "[^?]+", path)
        )
        missing += [
            f"{method.upper()} {path}"
            for method in operations
            if not any(verb == method.upper() and pattern.fullmatch(url) for verb, url in typed)
        ]
    # Files of a chat's own messages are no part of the research routes.
    assert missing == ["GET /files/{element_id}/{name}"]
