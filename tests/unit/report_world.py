"""A small invented outcome for the tests of the report."""

from agents.contracts.contract import Brief, Caps, Contract, Forecast, ForecastLine, Query
from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, Frame, Problem, SearchRecord
from agents.contracts.plan import Leaf, Node, Plan
from agents.contracts.report import Actual, Outcome, ReportDocument
from agents.contracts.sources import RejectedSource, SourceCard
from agents.report.document import build

ACTUAL = Actual(seconds=243.0, tokens_in=12_345, tokens_out=678, model_calls=9, searches=2)
QUESTION = "Why did the ice line close?"


def card(number: int, kind: str = "web", title: str = "", url: str = "") -> SourceCard:
    address = url or (f"https://site{number}.example/p" if kind == "web" else f"library:/sample/{number}.md")
    return SourceCard(
        id=f"s{number}", url=address, title=title or f"Title {number}", kind=kind, site=f"site{number}.example",
        published="2023-05-01", retrieved="2026-11-27T10:00:00Z", text_hash="aa",
    )  # fmt: skip


def fact(number: int, source: SourceCard, quote: str, start: int = 0) -> Fact:
    return Fact(
        id=f"f{number:06x}", source_id=source.id, statement=quote, quote=quote, start=start, end=start + len(quote),
        confidence=0.9,
    )  # fmt: skip


def contract(queries: int = 1, language: str = "en", assumptions: tuple[str, ...] = ()) -> Contract:
    leaf = Leaf(title="l", objective="o", questions=("q",), searches=("s",))
    plan = Plan(query=QUESTION, root=Node(title="r", objective="o", children=(leaf,)), assumptions=assumptions)
    query = Query(text=QUESTION, feasible=True, reason="narrow", depth_estimate=1)
    brief = Brief(question=QUESTION, queries=(query,) * queries, language=language, today="2026-11-27")
    forecast = Forecast(lines=(
        ForecastLine(name="Time", low=2, high=4, unit="min", basis="b"),
        ForecastLine(name="Cost", low=None, high=None, unit="USD", basis="b"),
        ForecastLine(name="Parts", low=3, high=3, unit="nodes", basis="b"),
    ))  # fmt: skip
    return Contract(
        brief=brief, plans=(plan,) * queries, forecast=forecast,
        caps=Caps(rounds=3, searches=10, sources=10),
    )  # fmt: skip


A, B, C = card(1), card(2, "sample"), card(3)
F1 = fact(1, A, "The line closed on twelve days in the winter of 2022/23, more than in any winter since 1990.")
F2 = fact(2, B, "The limit is 18 centimetres.")
F3 = fact(3, A, "It rose from $3,500 to $5,000.", start=200)
F4 = fact(4, C, "Freight moved by road.")
SEARCHES = (
    SearchRecord(text="line closures", provider="library", hits=5),
    SearchRecord(text="ice limit", provider="web", hits=0, failed="no answer"),
)
REJECTED = (RejectedSource(url="https://bad.example/x", reason="behind a login"),)

CLOSURES = Finding(
    path="j/0/0", title="Closures", role="leaf", status="done", facts=(F1, F2, F3), sources=(A, B), searches=SEARCHES,
    rejected=REJECTED,
    markdown=(
        f"It closed on twelve days [#{F1.id}], they say. Prices rose from $3,500 to $5,000.[#{F3.id}][#{F2.id}]\n\n"
        "| Year | Days | Source |\n|---|---|---|\n"
        f"| 2022 | 12 | [#{F1.id}] |\n| 2021 | 3[#{F2.id}] | 4[#{F1.id}] |\n\n"
        f"> The limit. Is 18. [#{F2.id}]\n\n- one\n- two[#{F2.id}]"
    ),
)  # fmt: skip
FREIGHT = Finding(
    path="j/0/1/0", title="Freight", role="leaf", status="failed", note="the archive refused access",
    problems=(Problem(where="j/0/1/0", type="SourceError", message="refused"),),
)  # fmt: skip
ROADS = Finding(path="j/0/1/1", title="Roads", role="leaf", status="done", facts=(F4,), sources=(C,))
OTHERS = Finding(
    path="j/0/1", title="Other ways", role="node", status="partial", children=(FREIGHT, ROADS),
    markdown=f"Taken together:\n\nFreight went by road.[#{F4.id}]",
)  # fmt: skip
TOP = Finding(path="j/0", title="Why", role="query", status="partial", children=(CLOSURES, OTHERS))
FRAME = Frame(
    title="Closures of the line.",
    summary=f"# Summary\nIt closed on **twelve days**.[#{F1.id}] Two sources agree on this.",
    insight=f"The limit explains it.[#{F2.id}]",
    conclusion="",
    open_questions=("What about 2024?",),
)


def outcome(**changes: object) -> Outcome:
    return Outcome.model_validate({"contract": contract(), "findings": (TOP,), "frame": FRAME, **changes})


def document(**changes: object) -> ReportDocument:
    return build("job", outcome(**changes), ACTUAL, engine="some/model", reasons=True)


def judged(report: ReportDocument, place: int, verdict: str) -> ReportDocument:
    """The same report, the verdict of one sentence changed wherever it stands."""
    text = report.sentences[place].text
    body = report.body.changed(
        lambda one: one.model_copy(update={"verdict": verdict}) if one.text.strip() == text else one
    )
    sentences = [one.model_copy(update={"verdict": verdict}) if one.text == text else one for one in report.sentences]
    return report.model_copy(update={"body": body, "sentences": tuple(sentences)})
