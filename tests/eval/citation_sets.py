"""Find and cite: questions with known gold documents, researched end to end in a corpus that is the only library.

A row counts as read when every gold document was read; as found when the answer stands, as whole words, in sentences of the
report that cite something, or in the words that they cite. Of all documents cited, precision is the share that is gold; recall is the mean over questions
of the share of gold documents that are cited. A question that the manager refuses counts with nothing read and cited.

Questions with the documents that they may be answered from: researched end to end, several at once, over one index.

Grades: is what a report calls complete, and each question that it calls answered, really so?

Every third question loses documents that it needs: all of them, or the one that holds its answer. Such a report may
never be complete. Of the others, a complete report is right when its answer stands in it, as whole words, or, where two
things are compared or the answer is yes or no, when it cites what is needed of both.

Citation form of whole reports: numbers that are not in the list, entries that nothing cites, addresses listed twice.

Reports are rows with an `article` (a peer's), report documents as `--json` writes them, Markdown files, or a folder of
these. Rows with a `question` are researched first, so that our own reports are looked at. The summary counts reports in
which a fault occurs; the rows say how often.
"""

import asyncio
import re
import tempfile
import time
import unicodedata
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from pydantic import ValidationError

from agents.contracts.report import ReportDocument
from agents.core.errors import BadRequest, DossierError
from agents.core.events import SourceRead
from agents.core.settings import Settings
from agents.core.time_policy import SCOPING_SHARE, left_for_research_s
from agents.report.cut_sentences import URL, find_marks, is_reference_heading, trimmed_url
from agents.research.scoping.turn import ScopingState
from agents.team import Team, open_team
from agents.web.url_key import canonical
from tests.eval.labelled_sets import Row, Variant, gold_of, load, mean, pairs, share, text_of

AT_ONCE = 4
"""Questions researched side by side."""
FOLDER = "corpus"


@dataclass(frozen=True)
class Answered:
    """What came of one question."""

    report: ReportDocument | None
    read: tuple[str, ...]
    """Addresses of the documents that were read, in order."""
    problem: str
    """Why there is no report; empty when there is one."""


@asynccontextmanager
async def over(settings: Settings, corpus: Sequence[Row] | None) -> AsyncIterator[Team]:
    """Open a team whose only documents are those of `corpus`, in a folder that goes with it; without one, as settings say."""
    with tempfile.TemporaryDirectory(prefix="dossier-eval-") as folder:
        documents = Path(folder) / FOLDER
        documents.mkdir()
        for row in corpus or ():
            name = re.sub(r"[^\w.-]", "_", str(row["doc_id"]))
            (documents / f"{name}.txt").write_text(f"{row['title']}\n\n{text_of(row)}\n", encoding="utf-8")
        update = {"library": (documents,), "retriever": ("library",), "data_dir": Path(folder) / "data"}
        async with opened(settings.model_copy(update=update) if corpus is not None else settings) as team:
            yield team


@asynccontextmanager
async def team_over(settings: Settings, documents: Path) -> AsyncIterator[Team]:
    """Open a team whose only documents are those of a folder."""
    with tempfile.TemporaryDirectory(prefix="dossier-eval-") as folder:
        update = {"library": (documents,), "retriever": ("library",), "data_dir": Path(folder)}
        async with opened(settings.model_copy(update=update)) as team:
            yield team


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Team]:
    """Open a team whose index is built once, before any question is asked."""
    team = open_team(settings)
    try:
        await team.searcher.survey("")
        yield team
    finally:
        await team.close()


async def researched(
    team: Team, questions: Sequence[str], variant: Variant, minutes: float | None = 5.0
) -> list[Answered]:
    """Research questions side by side; one that fails says why and takes no other with it."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(question: str) -> Answered:
        async with gate:
            return await _answered(team, question, variant, minutes)

    with variant.applied():
        return list(await asyncio.gather(*(one(question) for question in questions)))


async def _answered(team: Team, question: str, variant: Variant, minutes: float | None) -> Answered:
    began = time.monotonic()
    try:
        limit_s = None if minutes is None else SCOPING_SHARE * minutes * 60
        state = ScopingState(mode=variant.mode, minutes=minutes)
        settled = await team.settle(state, question, challenge=variant.challenge, limit_s=limit_s)
        if settled.contract is None:
            reasons = "; ".join(query.reason for query in settled.scope.queries if not query.feasible)
            return Answered(None, (), f"not feasible: {reasons or 'there is no question in it'}")
        # As the command counts: scoping and planning come out of the time.
        left_s = None if minutes is None else left_for_research_s(60 * minutes, time.monotonic() - began)
        job = await team.start(settled.contract, challenge=variant.challenge, left_s=left_s)
        await job.wait()
    except DossierError as error:
        return Answered(None, (), error.notice)
    events = (numbered.event for numbered in job.run.events)
    read = dict.fromkeys(event.source.url for event in events if isinstance(event, SourceRead))
    return Answered(job.report, tuple(read), job.notice)


def document(url: str) -> str:
    """Give the corpus's own name of the document at an address of the library."""
    return unquote(url).rsplit("/", 1)[-1].removesuffix(".txt")


async def run(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Research every question.

    Args:
        path: a file of questions beside its corpus, or a folder with such pairs.
        settings: which model answers.
        variant: what is left out.

    Raises:
        BadRequest: there are no questions with a corpus beside them.
        ConfigError: the settings can't be used.
    """
    rows: list[Row] = []
    for pair in pairs(path):
        questions = pair.questions[: variant.limit]
        async with over(variant.settings(settings), pair.corpus) as team:
            answers = await researched(team, [str(row["question"]) for row in questions], variant)
        rows += [row_of(pair.name, row, answer) for row, answer in zip(questions, answers, strict=True)]
    return rows, summed(rows)


def summed(rows: Sequence[Row]) -> Row:
    """Give the figures of a set."""
    cited = [(row["gold_cited"], len(row["cited"])) for row in rows]
    return {
        "n": len(rows),
        "all_gold_read": mean([row["all_gold_read"] for row in rows]),
        "cited_precision": share(sum(gold for gold, _ in cited), sum(number for _, number in cited)),
        "cited_recall": mean([row["cited_recall"] for row in rows]),
        "answer_found": mean([row["answer_found"] for row in rows]),
    }


def row_of(name: str, row: Row, answer: Answered) -> Row:
    """Hold what came of a question against its gold documents and its answer."""
    gold = sorted(gold_of(row))
    report = answer.report
    read = [document(url) for url in answer.read]
    cited = list(dict.fromkeys(document(reference.url) for reference in report.references)) if report else []
    hits = len(set(cited) & set(gold))
    return {
        "set": name,
        "id": row.get("id", ""),
        "question": row["question"],
        "gold": gold,
        "read": read,
        "cited": cited,
        "gold_cited": hits,
        "all_gold_read": set(gold) <= set(read),
        "cited_precision": share(hits, len(cited)),
        "cited_recall": share(hits, len(gold)),
        "answer_found": _says(report, (row["answer"], *row.get("answer_aliases", ()))),
        "seconds": report.methodology.actual.seconds if report else None,
        "searches": report.methodology.actual.searches if report else 0,
        "problem": answer.problem,
    }


def _says(report: ReportDocument | None, answers: Sequence[object]) -> bool:
    """Tell whether the report, or the words it cites, hold an answer as whole words."""
    if report is None:
        return False
    quotes = (quote.text for reference in report.references for quote in reference.quotes)
    cited = (sentence.text for sentence in report.sentences if sentence.citations)
    said = f" {plain_words(' '.join((*cited, *quotes)))} "
    return any(f" {plain} " in said for answer in answers if (plain := plain_words(str(answer))))


def plain_words(text: str) -> str:
    """Write a text as its words alone, without case and accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(re.findall(r"\w+", "".join(one for one in folded if not unicodedata.combining(one))))


ONE_IN = 3
"""So many questions to one that loses documents."""


async def run_grades(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Research every question, some of them without what they need.

    Raises:
        BadRequest: there are no questions with a corpus beside them.
        ConfigError: the settings can't be used.
    """
    rows: list[Row] = []
    for pair in pairs(path):
        texts = {str(one["doc_id"]): f"{one['title']} {text_of(one)}" for one in pair.corpus}
        asked = pair.questions[: variant.limit]
        lost = {
            at: taken_from(row, texts, whole=at % 2 == 1) for at, row in enumerate(asked) if at % ONE_IN == ONE_IN - 1
        }
        gone = {document for documents in lost.values() for document in documents}
        left = [one for one in pair.corpus if str(one["doc_id"]) not in gone]
        kept = [at for at in range(len(asked)) if at not in lost]
        for corpus, places in ((pair.corpus, kept), (left, sorted(lost))):
            async with over(variant.settings(settings), corpus) as team:
                found = await researched(team, [str(asked[at]["question"]) for at in places], variant)
            rows += [graded(pair.name, asked[at], one, lost.get(at, ())) for at, one in zip(places, found, strict=True)]
    return rows, summed_grades(rows)


def taken_from(row: Row, texts: dict[str, str], *, whole: bool) -> tuple[str, ...]:
    """Name the documents that a question loses: all it needs, or the last that holds its answer."""
    gold = gold_of(row)
    if whole or len(gold) < 2:
        return tuple(gold)
    if "steps" in row:
        return (str(row["steps"][-1]["doc_id"]),)
    answers = [str(one).casefold() for one in (row["answer"], *row.get("answer_aliases", ()))]
    holding = [one for one in gold if any(answer in texts.get(one, "").casefold() for answer in answers)]
    return (gold[-1],) if is_compared(row) or not holding else tuple(holding)


def is_compared(row: Row) -> bool:
    """Tell a question whose answer is chosen or judged rather than found: its words prove nothing."""
    return row.get("type") == "comparison" or str(row["answer"]).casefold() in {"yes", "no"}


def graded(name: str, row: Row, answer: Answered, lost: Sequence[str]) -> Row:
    """Hold the grade of a report against what can be known of it."""
    made, report = row_of(name, row, answer), answer.report
    holds = made["gold_cited"] == len(made["gold"]) if is_compared(row) else made["answer_found"]
    return {
        **made,
        "lost": list(lost),
        "grade": report.grade if report else "none",
        "answers": {one.question: one.status for one in report.answers} if report else {},
        "right": bool(holds and not lost),
        "summary": report.markdown.split("\n## ")[0] if report else "",
    }


def summed_grades(rows: Sequence[Row]) -> Row:
    """Give the figures of the set."""
    complete = [row for row in rows if row["grade"] == "complete"]
    whole = [row for row in rows if not row["lost"]]
    held = [row for row in whole if row["right"] and row["gold_cited"] == len(row["gold"])]
    return {
        "n": len(rows),
        "answerable": len(whole),
        "complete": len(complete),
        "complete_is_right": share(sum(row["right"] for row in complete), len(complete)),
        "complete_without_what_is_needed": sum(bool(row["lost"]) for row in complete),
        "complete_of_those_that_hold_the_answer": share(sum(row["grade"] == "complete" for row in held), len(held)),
        "nothing_found_of_unanswerable": share(
            sum(row["grade"] == "nothing_found" for row in rows if row["lost"]), len(rows) - len(whole)
        ),
    }


ENTRY = re.compile(r"^\s*(?:[-*]\s+)?(?:\[(\d{1,4})\]|(\d{1,4})[.)])\s*:?\s*(.*)$")


FAULTS = ("unknown", "uncited", "duplicates")
FEWEST_ENTRIES = 3
"""Numbered lines with addresses at the end that make a list where no heading names one."""


async def run_citation_form(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Look at every report.

    Raises:
        BadRequest: there are no reports and no questions.
        ConfigError: the settings can't be used.
    """
    rows: list[Row] = []
    for file in _files(path):
        rows += await _reports(file, settings, variant) if file.suffix == ".jsonl" else _single(file)
    rows = rows[: variant.limit]
    return rows, {"n": len(rows), **{fault: sum(bool(row[fault]) for row in rows) for fault in FAULTS}}


def _files(path: Path) -> list[Path]:
    files = (
        sorted(one for one in path.iterdir() if one.suffix in {".json", ".jsonl", ".md"}) if path.is_dir() else [path]
    )
    if not files:
        raise BadRequest(f"{path} holds no reports (.json, .jsonl, .md).")
    return files


def _single(file: Path) -> list[Row]:
    try:
        text = file.read_text("utf-8")
        found = of_document(ReportDocument.model_validate_json(text)) if file.suffix == ".json" else of_markdown(text)
    except ValidationError as error:
        raise BadRequest(f"{file} is no report document: {error.errors()[0]['msg']}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file} can't be read: {error}.") from error
    return [{"report": file.name, **found}]


async def _reports(file: Path, settings: Settings, variant: Variant) -> list[Row]:
    data = load(file, ())[: variant.limit]
    if "article" in data[0]:
        return [{"report": str(row.get("id", "")), **of_markdown(str(row.get("article", "")))} for row in data]
    if "question" not in data[0]:
        raise BadRequest(f"{file} holds neither reports (article) nor questions (question).")
    corpus = pairs(file)[0].corpus if "gold" in data[0] else None
    async with over(variant.settings(settings), corpus) as team:
        answers = await researched(team, [str(row["question"]) for row in data], variant)
    return [{"report": answer.report.job_id, **of_document(answer.report)} for answer in answers if answer.report]


def of_document(report: ReportDocument) -> Row:
    """Count the faults of one of our reports: its text against its own list."""
    body, _ = split_references(report.markdown)
    listed = [reference.n for reference in report.references]
    return _counted(_cited(body), listed, [reference.url for reference in report.references])


def split_references(markdown: str) -> tuple[str, str]:
    """Part the text from a reference list at its end: from a line that is only the name of such a list, to the end.

    Where no heading names one, numbered lines with addresses that only blank lines part are one.
    """
    lines = markdown.split("\n")
    for number, line in enumerate(lines):
        if is_reference_heading(line):
            return "\n".join(lines[:number]).rstrip(), "\n".join(lines[number:])
    lines = markdown.rstrip().split("\n")
    first = len(lines)
    for at in range(len(lines) - 1, -1, -1):
        entry = ENTRY.match(lines[at])
        if entry and URL.search(entry[3]):
            first = at
        elif lines[at].strip(" -*_"):
            break
    if sum(bool(ENTRY.match(line)) for line in lines[first:]) < FEWEST_ENTRIES:
        return markdown, ""
    return "\n".join(lines[:first]), "\n".join(["", *lines[first:]])


def of_markdown(markdown: str) -> Row:
    """Count the faults of a report that is only text."""
    body, section = split_references(markdown)
    lines = section.split("\n")[1:]
    end = next((at for at, line in enumerate(lines) if line.startswith("#")), len(lines))
    entries = [match for line in lines[:end] if (match := ENTRY.match(line))]
    urls = [trimmed_url(found[0]) for entry in entries for found in URL.finditer(entry[3])]
    return _counted(_cited(body), [int(entry[1] or entry[2]) for entry in entries], urls)


def _cited(body: str) -> list[int]:
    labels = (label for line in body.split("\n") for mark in find_marks(line) for label in mark.cited)
    return list(dict.fromkeys(int(label) for label in labels if label.isdecimal()))


def _counted(cited: Sequence[int], listed: Sequence[int], urls: Sequence[str]) -> Row:
    keys = [canonical(url) for url in urls]
    return {
        "cited": len(cited),
        "listed": len(listed),
        "unknown": len([number for number in cited if number not in listed]) if listed else 0,
        "uncited": len([number for number in dict.fromkeys(listed) if number not in cited]),
        "duplicates": len(keys) - len(set(keys)),
        "no_list": not listed and bool(cited),
    }
