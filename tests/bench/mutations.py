"""Does each effect matter? A field is emptied or a decision inverted, and a test has to notice.

    python -m tests.bench.mutations            # all of them, in a copy of the tree; ends with 1 if one survives
    python -m tests.bench.mutations 3 17       # only these
    python -m tests.bench.mutations --table    # write docs/criteria.md's last section anew

Each row says which requirement it is about, where it acts, what is put in its place, and who must fail.
"""

import importlib
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]

DOCUMENT = ROOT / "docs" / "criteria.md"
HEADING = "## Where it acts"
COPIED = (
    "agents",
    "prompts",
    "public",
    "tests",
    "docs",
    "examples",
    "pyproject.toml",
    "app.py",
    "chainlit.md",
    ".chainlit",
    "README.md",
    "Makefile",
)
WAIT_S = 300
LIBRARIES = (
    "pydantic", "numpy", "sqlalchemy", "sqlalchemy.ext.asyncio", "tenacity", "httpx", "jinja2", "structlog",
    "prometheus_client", "lxml.html", "snowballstemmer", "babel", "dbos", "typer",
)  # fmt: skip


class Mutation(NamedTuple):
    """One effect taken away."""

    requirement: str
    file: str
    """Below `agents/`."""
    old: str
    new: str
    test: str
    """Below `tests/`: a file, or one test of it."""


def _rows(test: str, *rows: tuple[str, str, str, str]) -> tuple[Mutation, ...]:
    return tuple(Mutation(requirement, file, old, new, test) for requirement, file, old, new in rows)


SETTING = "research/test_settings_act.py::test_turning_a_setting_changes_what_a_user_gets"
DECISION, LOOP = "unit/test_decision.py", "research/loop/loop_decision.py"
MUTATIONS = (
    *_rows(
        DECISION,
        ("S0 FR-3: sufficient ends the loop", LOOP, "reflection is not None and reflection.sufficient, ", "False, "),
        ("S0 FR-3: no gap ends the loop", LOOP, "(reflection is not None and not gaps, ", "(False, "),
        ("S0 FR-1: the reserve ends the loop", LOOP, "left is not None and left < reserve_s\n", "False\n"),
        ("S0 FR-2: the cap on rounds ends the loop", LOOP, "(iteration >= max_iterations, ", "(iteration > max_iterations, "),
        ("S0 FR-4: gaps that were given up end the loop", LOOP, "bool(gaps) and all(", "not gaps and all("),
        ("S3: success criteria end a phase", LOOP, "(criteria_met, ", "(False, "),
        ("S2 FR-07: low novelty ends the loop", LOOP, "novelty is not None and below(", "novelty is None and below("),
        ("S0 FR-3: finishing ends the loop", LOOP, "(finishing, \"finishing\"", "(False, \"finishing\""),
        ("S0 FR-3: an address is named for the next round", LOOP, "if (url := _url(one)) and url not in given_up", "if False and (url := _url(one))"),
        ("S0 FR-3: the next topic is the first query", LOOP, "if going_on and not _url(one) and not _exhausted(one, given_up)", "if False"),
        ("S0 FR-5: limits leave their tag", LOOP, "tag=_TAGS.get(cause, \"\"),", "tag=\"\","),
    ),
    *_rows(
        "unit/test_novelty.py",
        ("S2 FR-08: early termination can be turned off", "research/loop/success.py", "return enabled and score < threshold", "return score < threshold"),
        ("S2 FR-09: the threshold of novelty", "research/loop/success.py", "return enabled and score < threshold", "return enabled and score <= threshold + 0.2"),
        ("S2 FR-07: without notes all is new", "research/loop/success.py", "return float(bool(new))", "return 0.0"),
        ("S2 NFR-02: only the latest notes count", "research/loop/success.py", "_content(notes[-NOTES_KEPT:])", "_content(notes[:10])"),
    ),
    *_rows(
        "unit/test_topics.py",
        ("S2 FR-02: near-duplicates are dropped", "research/loop/topics.py", "            if explanation := ledger.repeated(topic):", "            if explanation := \"\":"),
        ("S2 FR-10: the threshold of likeness", "research/loop/topics.py", "alike >= threshold and", "alike > threshold + 0.2 and"),
        ("S2 FR-02: years, names and poles make topics different", "research/loop/topics.py", "and not _differ(ours, theirs):", "and True:"),
        ("S2: what is cut off may be proposed again", "research/loop/topics.py", "                waiting.append(topic)", "                pass"),
    ),
    *_rows(
        "unit/test_retries.py",
        ("S0 FR-4: three failures and no more", "contracts/plan.py", "MAX_ATTEMPTS = 3", "MAX_ATTEMPTS = 4"),
        ("S0 FR-4: a success outweighs failures", "contracts/plan.py", "\"complete\" if \"complete\" in statuses else status", "status"),
        ("S0 FR-4: failures of parallel branches add up", "contracts/plan.py", "attempts, statuses = old.attempts + one.attempts", "attempts, statuses = one.attempts"),
        ("S0 FR-4: what was given up is listed", "contracts/report.py", "sum(one.status == \"exhausted\" for", "sum(False for"),
    ),
    *_rows(
        "unit/test_budget.py",
        ("S0 FR-1: the reserve for writing", "core/time_policy.py", "RESERVE_SHARE * total_s)", "0.1 * total_s)"),
        ("S1 §8: seconds left of all levels", "core/budget.py", "fewest = least(own, self.parent.seconds_left(elapsed_s) if self.parent else None)", "fewest = own"),
        ("S1 §13: tokens used up stop calls", "core/budget.py", "            if limit is not None and amount >= limit:", "            if False:"),
    ),
    *_rows(
        "unit/test_success.py",
        ("S3: corroboration by independent sources", "research/loop/success.py", "for question, found in counts.items()\n        if found < wanted", "for question, found in counts.items()\n        if False"),
        ("S3: themes must be covered", "research/loop/success.py", "    uncovered = [theme for theme in themes if", "    uncovered = [theme for theme in () if"),
        ("S3: open contradictions keep a phase open", "research/loop/success.py", "if criteria.contradictions_resolved and contradictions_open:", "if False:"),
        ("S3: least confidence of a phase", "research/loop/success.py", "    if confidence < criteria.min_confidence:", "    if False:"),
    ),
    *_rows(
        "unit/test_authorization.py",
        ("Spec 3: only the phrase starts work", "research/scoping/authorization.py", "return bool(_EXACT.fullmatch(message))", "return PHRASE.casefold() in message.casefold()"),
        ("Spec 3: quotes and one closing mark are ignored", "research/scoping/authorization.py", r"(?:[.!][\s{_QUOTES}]*)?", ""),
    ),
    *_rows(
        "unit/test_command.py",
        ("S0 FR-1: five minutes by default", "contracts/contract.py", "DEFAULT_MINUTES = 5.0", "DEFAULT_MINUTES = 6.0"),
    ),
    *_rows(
        "unit/test_contracts.py",
        ("S3: at most three executors deep", "contracts/plan.py", "        if depth > MAX_EXECUTOR_DEPTH:", "        if False:"),
    ),
    *_rows(
        "research/test_loop.py",
        ("S3 phases: what sources disagree on gets the last round", "research/loop/rounds.py", "            if settles and ends:", "            if False:"),
        ("S3 scout: a later round sweeps where a leaf came to nothing", "research/loop/rounds.py", "len(self.given.node.phases) > 1 and rules.came_to_nothing(self.findings)", "False"),
        ("S3 phases: a gate that holds is passed over", "research/loop/rounds.py", "        return replace(found, met=not open_,", "        return replace(found, met=False,"),
        ("S3 phases: a phase keeps to its sources", "research/loop/rounds.py", "        if (most := self._phase.sources) is None:", "        if (most := self._phase.sources) != 0:"),
        ("S0 FR-4: searches side by side count among the attempts", "research/reading/searching.py", "waiting[:may_fail], waiting[may_fail:]", "waiting, []"),
    ),
    *_rows(
        "research/test_criteria.py",
        ("S1 §8: the confidence of an answer is the reflection's", "run_answer.py", "if last.judged is None else last.judged", "if True else last.judged"),
    ),
    *_rows(
        "research/test_context.py",
        ("Spec 12: what there is no room for is summarised", "research/fit_input.py", "        (-len(asked & held), not any(", "        (0, not any("),
        ("Spec 12: a summary keeps all citations", "research/fit_input.py", "if mark not in said)", "if False)"),
    ),
    *_rows(
        "research/test_truth.py",
        ("S4 §6: least evidence reaches the challenge", "research/challenge/challenge.py", "len(speaks) < wanted.min_evidence_per_claim or", "False or"),
        ("S4 §6: a claim is searched for itself before a second attack", "research/challenge/challenge.py", "queries.insert(1, claim)", "queries.append(claim)"),
        ("S4 §6: least domains reach the challenge", "research/challenge/challenge.py", "or len(domains) < wanted.min_distinct_domains_per_claim", "or False"),
        ("S4 §6: none found counts only where something was read", "contracts/verification.py", "return bool(self.queries and self.read)", "return bool(self.queries)"),
    ),
    *_rows(
        "roles/test_offline_model.py",
        ("S4 §6: the attack fits the kind of claim", "offline/judgements.py", "{say(given.language, _angle(one.text))}", "{say(given.language, 'against')}"),
    ),
    *_rows(
        "research/test_effects.py",
        ("S3 insights: limits of sources are open questions", "report/document.py", "stated += [*insights.source_identified_gaps, *(", "stated += [*(), *("),
        ("S3 insights: questions of sources are open questions", "report/document.py", "if one.confidence >= MATTERS)", "if False)"),
        ("S3 insights: the reflection is told of them", "research/loop/rounds.py", "raised=rules.raised_by(findings),", "raised=(),"),
        ("S3 insights: the reflection sees linked addresses", "research/loop/rounds.py", "linked=tuple(f\"{one.url}: {one.context}\" for one in self._linked(findings)),", "linked=(),"),
        ("S3 insights: a linked source is read next", "research/loop/rounds.py", "and link and link.priority >= WANTED:", "and False:"),
        ("S3 insights: priority follows what is asked", "research/reading/hold_extraction.py", "WANTED if asked else UNWANTED)", "WANTED)"),
        ("S3 insights: a leaf hands them up", "research/reading/leaf.py", "for one in done if one.reading.insights is not None", "for one in done if False"),
        ("S1 §6.2: failed searches are told", "research/loop/rounds.py", "failed_queries=rules.failed_queries(findings),", "failed_queries=(),"),
        ("S0 FR-3: a round says what is lacking", "research/loop/rounds.py", "update[\"gaps\"] = after.missing", "pass"),
        ("S0 FR-3: the summary says what was learned", LOOP, "surest = sorted(facts, key=lambda fact: -fact.confidence)[:LEARNED]", "surest = []"),
        ("S3 task specs: made from what the planner says", "research/planning/drafting.py", "    if not (planned.expected_format.strip() or criteria or planned.discovery):", "    if True:"),
        ("S3 task specs: the format reaches the extractor", "research/reading/read_sources.py", "expected_format=spec.expected_format if spec else \"\",", "expected_format=\"\","),
        ("S3 task specs: the criteria reach the extractor", "research/reading/read_sources.py", "acceptance_criteria=spec.acceptance_criteria if spec else (),", "acceptance_criteria=(),"),
        ("S3 task specs: the criteria reach the triage", "research/reading/scout_sweep.py", "acceptance_criteria=self.leaf.spec.acceptance_criteria if self.leaf.spec else (),", ""),
        ("S3: a rubric is composed without a spec", "research/reading/read_sources.py", "rubric=\"\" if spec or given.quick else composed_rubric(given.of),", "rubric=\"\","),
        ("S3 task specs: priority orders the work", "research/loop/rounds.py", "key=lambda place: URGENCY[chosen[place][1].urgency]", "key=lambda place: 0"),
        ("S3: the manager's parts reach the planner", "research/planning/drafting.py", "sub_topics=query.sub_topics,", ""),
        ("S3: a part that no leaf asks about is a theme", "research/planning/drafting.py", "tuple(part for part in self.planning.sub_topics if not", "tuple(part for part in () if not"),
        ("S3 scout: what was chosen is shown", "report/methodology.py", "for chosen in (node.shortlist for node in self.nodes if node.shortlist is not None):", "for chosen in ():"),
        ("S3 scout: with its tags", "report/methodology.py", "for tag in (one.tags.authority, one.tags.recency) if", "for tag in () if"),
        ("S3 scout: with its balance", "report/methodology.py", "\" · \".join(map(words.reason, chosen.balance))", "\"\""),
        ("S2: branches of a round side by side", "research/loop/rounds.py", "wave = order[first : first + self.loop.side_by_side]", "wave = order if first == 0 else []"),
        ("S3 caps: who finds all only reserved waits", "research/planning/flat_plan.py", "if self._working and not grant.enough(searches, least):", "if False:"),
        ("S3 insights: a sweep hands them up", "research/reading/scout_sweep.py", "tuple(self.insights)", "()"),
        ("S3: readers are told what is known", "research/loop/rounds.py", "found=between.known_of(sub_questions(child), self.findings),", "found=(),"),
        ("S0: guidance reaches every role", "research/run_context.py", "        if self.steering.guidance and \"guidance\" in type(given).model_fields:", "        if False:"),
        ("S0: the acknowledgement counts branches", "jobs/changes.py", "branches=branches if collecting else 0,", "branches=0,"),
        ("S0: the acknowledgement names the next round", "jobs/changes.py", "if collecting and (rounds is None or following <= rounds) else None", "if False else None"),
    ),
    *(
        Mutation(*rest, f"{SETTING}[{turned}-job]")
        for turned, *rest in (
            ("depth", "S3: the bound on depth", "team.py", "depth=settings.max_depth,", "depth=3,"),
            ("results that a writer is shown", "Spec 12: results that a writer is shown", "team.py", "context_results=self.settings.context_results,", ""),
            ("branches at once", "S2: branches at once", "team.py", "side_by_side=settings.max_concurrent_research_units,", "side_by_side=5,"),
            ("calls at once", "Spec 9: calls at once", "jobs/config.py", "per_job=settings.max_concurrency,", "per_job=6,"),
            ("judge_min_evidence_per_claim", "S4 §6: claims are settled by evidence", "research/challenge/claim_ledger.py", "passed=passed >= wanted.min_claims", "passed=True"),
            ("judge_min_report_confidence", "S4 §6: the judge's confidence", "team.py", "getattr(settings, whose + name) for name in names", "getattr(settings, name if name == 'min_report_confidence' else whose + name) for name in names"),
            ("judge_min_report_confidence", "S4 §6: figures that fall short are told to the judge", "research/challenge/claim_ledger.py", "        if not holds:", "        if False:"),
            ("searches of a leaf", "S2 FR-06: searches of a leaf are a cap of the contract", "research/planning/freeze_contract.py", " searches_per_leaf=limits.searches_per_leaf,", ""),
        )
    ),
    *_rows(
        "chat/test_conversation.py",
        ("Spec 3: a question that was narrowed is planned anew", "jobs/contract_drafts.py", "as_asked = first and", "as_asked ="),
    ),
    *_rows(
        "research/test_faults.py",
        ("S0 FR-1: the time that was given is shown", "report/methodology.py", "self.outcome.contract.brief.minutes\n", "self.outcome.contract.caps.minutes\n"),
        ("S1 §8: retries are right while a job runs", "api/jobs_api.py", "asks[place(event.node)] = event.doing", "asks[place(event.node)] = event.title"),
        ("S1 §10: an outage degrades", "research/writing/closing.py", "        if breaker.is_open or (record.failures and not record.failed):", "        if False:"),
        ("S1 §10: a switch of provider degrades", "research/writing/closing.py", "or (record.failures and not record.failed):", "or False:"),
        ("S1 §17: failed searches are counted", "api/metrics.py", "failures.inc(1 if event.failed else len(event.failures))", "failures.inc(0)"),
        ("Spec 9: a stand-in lowers the grade", "report/document.py", "reasons += making.stand_ins() if making.reasons else ()", "reasons += ()"),
        ("Spec 9: who stood in while it was planned is told", "contracts/frozen.py", "if one.usage.calls or one.stood_in_for)", "if one.usage.calls)"),
        ("Spec 9: branches that fell short lower the grade", "report/document.py", "for top in outcome.findings for node in _short(top)]", "for node in ()]"),
        ("Spec 9: nothing found is said", "report/document.py", "grade: r.Grade = \"nothing_found\" if not self.has_facts else", "grade: r.Grade = \"partial\" if not self.has_facts else"),
        ("Spec 8: #LOW_EVIDENCE", "report/document.py", "\"#LOW_EVIDENCE\": cited <= 1,", "\"#LOW_EVIDENCE\": False,"),
        ("Spec 8: #DEGRADED_SEARCH", "research/pipeline.py", "\"#DEGRADED_SEARCH\": degraded,", "\"#DEGRADED_SEARCH\": False,"),
    ),
    *_rows(
        "api/test_durable_jobs.py",
        ("S4 §5.4: a rework is told what the judge found", "jobs/worker.py", "if row.blocked_reason == \"needs_rework\":  #", "if False:  #"),
        ("S4 §5.4: a rework is judged again", "jobs/job.py", "\"reflector\", \"judge\"})", "\"reflector\"})"),
    ),
    *_rows(
        "research/test_salvage.py",
        ("Spec 9: what nobody has judged does not pass", "research/pipeline.py", "judgement=held if means.require_judge else None", "judgement=None"),
    ),
    *_rows(
        "api/test_after_a_report.py",
        ("Row 34: refresh says what has changed", "report/document.py", "changed = since(earlier,", "changed = None and since(earlier,"),
        ("Row 34: changed sources", "report/earlier.py", "known[key].text_hash != card.text_hash", "False"),
        ("Row 34: words that are gone", "report/earlier.py", "if fact.source_id in changed and not any(", "if any("),
        ("Row 34: continue hands facts to leaves", "research/reading/leaf.py", "if earlier is None or earlier.use != \"continue\":", "if True:"),
        ("Row 34: continue tells the planner", "research/planning/drafting.py", "known=brief.known,", "known=(),"),
    ),
    *_rows(
        "api/test_provenance.py",
        ("S4: evidence carries its words", "research/challenge/claim_ledger.py", "quote=fact.quote, start=fact.start,", "quote=\"\", start=fact.start,"),
        ("S4: evidence is there while a job runs", "research/challenge/challenge.py", "        ctx.emit(f\"claim:{case.claim.id}\", ClaimWeighed(", "        _ = (f\"claim:{case.claim.id}\", ClaimWeighed("),
        ("S4: planned claims are there while a job runs", "jobs/job.py", "for plan in plans for one in planned_claims(plan))", "for plan in () for one in planned_claims(plan))"),
        ("S4: branches count their claims", "report/document.py", "sources=sources, claims=resting)", "sources=sources, claims=0)"),
    ),
    *_rows(
        "api/test_jobs_api.py",
        ("S4 §5.1: a job is there at once", "api/jobs_api.py", "    if team.engine.reasons:\n        return brief\n", ""),
        ("S4 §5.1: the contract is readable while it runs", "research/pipeline.py", "        ctx.emit(f\"contract:{contract.hash}\", Planned(contract=contract))\n", ""),
        ("S4 §5.1: too broad a question fails the job", "research/scoping/turn.py", "    refuse_broad(queries)\n", ""),
        ("S4 §5.1: the planner's window", "research/scoping/turn.py", "async with asyncio.timeout(deadline.seconds()):", "async with asyncio.timeout(None):"),
    ),
    *_rows(
        "unit/test_truth_confidence.py",
        ("S4 §6: one source never settles a claim", "verify/confidence.py", "PER_ORIGIN = 0.8", "PER_ORIGIN = 1.0"),
        ("S4 §6: what contradicts refutes or contests", "verify/confidence.py", "    if against > pro:", "    if False:"),
        ("S4 §6: too few independent sources lower the confidence", "verify/confidence.py", "    enough = sqrt(min(1.0, claim.origins / wanted_origins)) if wanted_origins else 1.0", "    enough = 1.0"),
        ("S4 §6: an open dispute is contested", "verify/confidence.py", "    if against >= OPEN_DISPUTE * pro and pro >= OPEN_DISPUTE * against:", "    if False:"),
    ),
)  # fmt: skip


def mutated(text: str, one: Mutation) -> str:
    """Put a mutation into a file's text.

    Raises:
        ValueError: what it replaces does not stand there exactly once.
    """
    if text.count(one.old) != 1:
        raise ValueError(f"{one.requirement}: {one.old!r} stands {text.count(one.old)} times in {one.file}")
    return text.replace(one.old, one.new)


def caught(one: Mutation, tree: Path) -> str:
    """Run the tests of a mutation in a copy of the tree; gives the test that failed, empty where none did."""
    path = tree / "agents" / one.file
    before = path.read_text("utf-8")
    path.write_text(mutated(before, one), "utf-8")
    said = tree / "said.txt"
    process = multiprocessing.get_context("fork").Process(target=_run, args=(one.test, tree, said))
    process.start()
    process.join(WAIT_S)
    path.write_text(before, "utf-8")
    if process.is_alive():
        process.kill()
        process.join()
        return f"{one.test} (never ended)"
    failed = re.search(r"^(?:FAILED|ERROR) tests/([^\s\[]+)", said.read_text("utf-8"), re.MULTILINE)
    if failed is None and process.exitcode:
        raise RuntimeError(f"{one.requirement}: its tests could not be run\n{said.read_text('utf-8')[-2000:]}")
    return failed[1] if failed else ""


def _run(test: str, tree: Path, said: Path) -> None:
    """Run tests in this process, a fork that has libraries loaded and nothing of ours."""
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    for name in [name for name in sys.modules if name.partition(".")[0] in {"agents", "tests", "app"}]:
        del sys.modules[name]
    sys.dont_write_bytecode = True
    with said.open("w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
        sys.stdout = sys.stderr = out  # a runner around this one has put its own there
        code = pytest.main([f"tests/{test}", "-x", "-q", "-p", "no:cacheprovider", "--show-capture=no"])
        sys.stdout.flush()
    os._exit(int(code))


def _loaded() -> None:
    """Load what all tests need once, so that each fork has it."""
    for name in LIBRARIES:
        importlib.import_module(name)


def copied(folder: Path) -> Path:
    """Copy what the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
        else:
            shutil.copy(source, folder / name)
    return folder


def table(tests: dict[str, str]) -> str:
    """Write the section of the document: what acts where, and who notices when it does not."""
    lines = [
        HEADING,
        "",
        "Written by `python -m tests.bench.mutations --table`. Where a row names one test, the effect was taken away (a field",
        "emptied, a decision inverted) and that test failed; where it names a file, its tests are meant to notice, and that is",
        "still to be tried. Files are below `agents/`, tests below `tests/`.",
        "",
        "| Requirement | Where it acts | Test that fails without it |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {one.requirement} | `{one.file}` | `{tests.get(one.requirement) or one.test}` |" for one in MUTATIONS]
    return "\n".join(lines) + "\n"


def known(section: str) -> dict[str, str]:
    """Give what an earlier table says of rows that are not run now."""
    rows = re.findall(r"^\| (.+?) \| `[^`]+` \| `([^`]+)` \|$", section, re.MULTILINE)
    return {
        name: test
        for name, test in rows
        if any(one.requirement == name and test.startswith(one.test) for one in MUTATIONS)
    }


def main(arguments: list[str]) -> int:
    """Run mutations, or write the table; gives the exit code."""
    chosen = [MUTATIONS[int(one)] for one in arguments if one.isdigit()] or list(MUTATIONS)
    noticed: dict[str, str] = {}
    _loaded()
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        for number, one in enumerate(chosen):
            noticed[one.requirement] = test = caught(one, tree)
            sys.stdout.write(f"{number:3} {'caught  ' if test else 'SURVIVED'} {one.requirement} | {test}\n")
            sys.stdout.flush()
    if "--table" in arguments:
        text, _, before = DOCUMENT.read_text("utf-8").partition(HEADING)
        DOCUMENT.write_text(f"{text.rstrip()}\n\n{table(known(before) | noticed)}", "utf-8")
    return 0 if all(noticed.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
