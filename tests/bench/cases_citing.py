"""Cases on sources, marks and support: C14, C16 to C24, C43, C44."""

import asyncio
import csv
import html
import json
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from agents.core.settings import load
from agents.report.escaping import is_safe, link
from agents.report.html_export import blocks_html
from agents.report.parse_body import parse
from agents.report.write_markdown import markdown_of
from agents.verify.checks import carried
from agents.verify.confidence import Witness, origins, verifiable_ratio
from agents.verify.quotes import find_quote
from agents.web.html_text import read_html
from agents.web.url_key import identity, registrable_domain
from tests.bench.cases_replying import rows
from tests.eval.citation_sets import over, researched
from tests.eval.labelled_sets import Variant
from tests.merged_parts import merge_parts

EMPTY_HANDED = "How many passengers did the Orvane ferry carry in 2023?"


def nothing_found(folder: Path) -> list[bool]:
    """A library that holds nothing on the matter: the report must say so, and hold no figure and no source."""

    async def asked() -> list[bool]:
        beside = [{"doc_id": "bees", "title": "Bees", "text": "Wild bees nest in sandy soil. They fly in April."}]
        async with over(load(), beside) as team:
            report = (await researched(team, [EMPTY_HANDED], Variant()))[0].report
        if report is None:
            return [False]
        prior = json.loads((folder / "world.json").read_text("utf-8"))["model_prior"]
        figures = re.findall(r"\d+,\d{3}", prior)
        return [
            report.grade == "nothing_found",
            not any(figure in report.markdown for figure in figures) and "http" not in report.markdown,
            not report.references and bool(report.grade_reasons or report.methodology.queries),
        ]

    return asyncio.run(asked())


def addresses(folder: Path) -> list[bool]:
    with (folder / "urls.tsv").open(encoding="utf-8") as file:
        listed = list(csv.DictReader(file, delimiter="\t"))
    main = read_html((folder.parent / "C17" / "2_amp.html").read_text("utf-8"), "https://x.example/").canonical
    keys: dict[str, set[str]] = defaultdict(set)
    for row in listed:
        declares = "mobile" in row["note"] or "/amp/" in row["url"]
        keys[row["group"]].add(identity(row["url"], main if declares else None))
    one_each = [len(found) == 1 for found in keys.values()]
    return [*one_each, len(set.union(*keys.values())) == len(keys)]


def copies(folder: Path) -> list[bool]:
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    found = origins([_witness(path) for path in sorted(folder.glob("*.html"))])
    grouped = sorted(map(list, found)) == sorted(expected["groups"])
    return [grouped, len(found) == expected["independent_sources"]]


def _witness(path: Path) -> Witness:
    page = read_html(path.read_text("utf-8"), f"https://unknown.example/{path.name}")
    address = page.canonical or f"https://unknown.example/{path.name}"
    return Witness(path.name, registrable_domain(address), page.text, title=page.title, url=address)


def invented(folder: Path) -> list[bool]:
    registry = json.loads((folder / "registry.json").read_text("utf-8"))
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    known = {str(row["id"]): str(row["id"]) for row in registry}
    body = parse((folder / "draft.md").read_text("utf-8"), known, addresses=[row["url"] for row in registry])
    text = markdown_of(body, lambda sentence: "".join(f"[{fact}]" for fact in sentence.facts))
    return [
        [int(fact) for fact in body.facts()] == expected["kept_ids"],
        not any(unknown in text for unknown in expected["unknown"]),
        "References" not in text,
        sum(not sentence.facts for sentence in body.sentences()) == expected["unsupported_sentences"],
        "http" not in text,
    ]


def merged(folder: Path) -> list[bool]:
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    found = merge_parts([(folder / f"sub_{part}.md").read_text("utf-8") for part in "abc"])
    told = [(one.text, list(one.urls), list(one.dangling), list(one.ambiguous)) for one in found.statements]
    wanted = [
        (one["text"], one["urls"], one.get("dangling", []), one.get("ambiguous", [])) for one in expected["sentences"]
    ]
    return [
        list(found.references) == expected["references"],
        list(found.not_listed) == expected["not_listed"],
        [int(one) for one in parse(found.markdown, {str(n): str(n) for n in range(1, 100)}).facts()]
        == expected["numbers_in_output"],
        *(one in told for one in wanted),
    ]


def notations(folder: Path) -> list[bool]:
    found = []
    for row in rows(folder / "marks.jsonl"):
        known = {str(number): str(number) for number in range(1, row["sources"] + 1)}
        body = parse(row["text"], known)
        plain = markdown_of(body, lambda _: "")
        gone = all(f"[{number}]" not in plain for number in row["dangling"])
        found.append([int(fact) for fact in body.facts()] == row["cited"] and gone)
    return found


def links(folder: Path) -> list[bool]:
    found = []
    for url in json.loads((folder / "urls.json").read_text("utf-8")):
        page = blocks_html(parse(f"{link('x', url)}\n\n| a | b |\n|---|---|\n| {link('x', url)} | c |", ()).blocks)
        hrefs = [unquote(html.unescape(one)) for one in re.findall(r'href="([^"]*)"', page)]
        found.append(hrefs == [unquote(url)] * 2)
    return found


def claims(folder: Path) -> list[bool]:
    source = (folder / "source.txt").read_text("utf-8")
    return [
        (carried(row["claim"], [source]).verdict == "supported") == (row["verdict"] == "supported")
        for row in rows(folder / "claims.jsonl")
    ]


def quotes(folder: Path) -> list[bool]:
    found = []
    for row in rows(folder / "pairs.jsonl"):
        place = find_quote(row["quote"], row["source"])
        found.append(bool(place) is row["match"] and (place is None or 0 <= place[0] < place[1] <= len(row["source"])))
    return found


def counted(folder: Path) -> list[bool]:
    expected = json.loads((folder / "expected.json").read_text("utf-8"))["sentences_with_a_mark"]
    statements = [line for line in (folder / "report.md").read_text("utf-8").splitlines() if line.strip()]
    understood = [bool(re.search(r"\[\d+(?:, \d+)*\]\.$", line)) for line in statements]
    ratio = verifiable_ratio(["supported" if one else "unchecked" for one in understood])
    return [len(statements) == expected, ratio == sum(understood) / expected, ratio is not None and ratio < 1]


def money(folder: Path) -> list[bool]:
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    page = blocks_html(parse((folder / "report.md").read_text("utf-8"), (), addresses=()).blocks)
    shown = html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<math.*?</math>", "", page, flags=re.DOTALL)))
    counts = expected["maths_count"]
    return [
        *(word in shown for word in expected["money_visible"] + expected["literal"]),
        page.count('<math display="block">') == counts["display"],
        page.count("<math>") == counts["inline"],
    ]


def hostile(folder: Path) -> list[bool]:
    payloads = json.loads((folder / "payloads.json").read_text("utf-8"))
    schemes = [is_safe(url) == url.casefold().startswith("http") for url in payloads["source_urls"]]
    pages = [
        blocks_html(parse(text, (), addresses=()).blocks) for text in payloads["model_text"] + payloads["source_titles"]
    ]
    harmless = [
        not re.search(
            r"<(?:script|img|iframe|style)\b|<[^>]*\bon\w+=|(?:href|src)=\"(?:javascript|vbscript|data):", page, re.I
        )
        for page in pages
    ]
    return [*schemes, *harmless]


JUDGES: dict[str, Callable[[Path], list[bool]]] = {
    "C14": nothing_found,
    "C16": addresses,
    "C17": copies,
    "C18": invented,
    "C19": merged,
    "C20": notations,
    "C21": links,
    "C22": claims,
    "C23": quotes,
    "C24": counted,
    "C43": money,
    "C44": hostile,
}
