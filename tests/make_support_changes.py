"""Make `tests/data/support_changes.jsonl`: true sentences, and the same with one thing changed by machine.

    python tests/make_support_changes.py BEGIN_WOW.jsonl FM2_CLAIMS.jsonl > tests/data/support_changes.jsonl

Knows nothing of the checks it tests: it has its own word lists. Sentences come from the sample library (ours), from gold
evidence and true claims of Fool Me Twice (Eisenschlos et al. 2021; texts of Wikipedia, CC BY-SA) and from attributable
answers of BEGIN (Dziri et al. 2022, CC BY 4.0). Each row: `sentence` and the `quote` it rests on, `change` (`none` and
`same` keep the meaning), `source`, `half` (a or b, by a digest of the quote: rules are looked at on a, told on b).
"""

import hashlib
import json
import random
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

LIBRARIES = ("examples/library", "tests/data/library_two")
MONTHS = "January February March April May June July August September October November December".split()
WORDS = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
NUMBER = re.compile(r"(?<![\w.,/–-])\d{1,3}(?:,\d{3})+(?![\w/–-])|(?<![\w.,/–-])\d+(?:\.\d+)?(?![\w/–-]|[.,]\d)")
YEAR = re.compile(r"(?<![\w.,/–-])(?:1[5-9]|20)\d{2}(?![\w/–-]|[.,]\d)")
NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z](?!rs\b)[a-z]{2,}(?: [A-Z][a-z]{2,})*(?![\w'’])")
AUXILIARY = re.compile(
    r"\b(is|was|are|were|has|had|have|can|could|will|would|did|does|do|may|should)\b(?! not\b|n't|n’t)"
)
DENIED = re.compile(r"\b(is|was|are|were|has|had|have|can|could|will|would|did|does|do) not\b(?! only)")
OPPOSITES = (
    ("increased", "decreased"), ("rose", "fell"), ("higher", "lower"), ("largest", "smallest"), ("larger", "smaller"),
    ("more", "fewer"), ("first", "last"), ("before", "after"), ("won", "lost"), ("above", "below"), ("most", "least"),
    ("early", "late"), ("northern", "southern"), ("north", "south"), ("east", "west"), ("success", "failure"),
    ("always", "never"), ("with", "without"), ("older", "younger"), ("best", "worst"), ("accepted", "rejected"),
)  # fmt: skip
UNITS = (
    ("hectares", "square metres"), ("metres", "feet"), ("kilometres", "miles"), ("miles", "feet"), ("per cent", "percentage points"),
    ("days", "weeks"), ("months", "years"), ("million", "billion"), ("grams", "kilograms"), ("minutes", "hours"), ("%", " metres"),
)  # fmt: skip


def plain_sentences(text: str) -> Iterator[str]:
    """Prose sentences of a document, by the simplest rule that will do."""
    text = re.sub(r"(?s)\A---.*?---|<(script|style).*?</\1>|<[^>]+>", "\n", text)
    for line in text.split("\n"):
        if line.startswith(("#", "|", "*", "-", ">")) or len(line) < 40:
            continue
        for sentence in re.split(r"(?<=[a-z0-9)]\.)\s+(?=[A-Z])", line.strip()):
            if 40 <= len(sentence) <= 260 and sentence.endswith(".") and sentence.isascii():
                yield sentence


def one_number(rng: random.Random, text: str) -> str | None:
    found = [match for match in NUMBER.finditer(text) if not YEAR.fullmatch(match[0])]
    if not found:
        return None
    match = rng.choice(found)
    plain = match[0].replace(",", "")
    if "." in plain:
        put = f"{float(plain) + rng.choice((1.3, 2.1, 0.7)):.{len(plain.split('.')[1])}f}"
    else:
        put = (
            f"{int(plain) + rng.choice((1, 2, 3, 10)):,}"
            if "," in match[0]
            else str(int(plain) + rng.choice((1, 2, 3, 10)))
        )
    return text[: match.start()] + put + text[match.end() :]


def number_word(rng: random.Random, text: str) -> str | None:
    found = list(re.finditer(r"\b(?:" + "|".join(WORDS) + r")\b(?! hundred)", text))
    if not found:
        return None
    match = rng.choice(found)
    put = rng.choice([word for word in WORDS if word != match[0]])
    return text[: match.start()] + put + text[match.end() :]


def two_numbers(rng: random.Random, text: str) -> str | None:
    found = [match for match in NUMBER.finditer(text) if not YEAR.fullmatch(match[0])]
    if len(found) < 2 or found[0][0] == found[1][0]:
        return None
    one, two = found[:2]
    return text[: one.start()] + two[0] + text[one.end() : two.start()] + one[0] + text[two.end() :]


def year(rng: random.Random, text: str) -> str | None:
    found = list(YEAR.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    return text[: match.start()] + str(int(match[0]) + rng.choice((-11, -2, -1, 1, 3))) + text[match.end() :]


def month(rng: random.Random, text: str) -> str | None:
    found = list(
        re.finditer(r"\b(?:" + "|".join(name for name in MONTHS if name not in {"May", "March"}) + r")\b", text)
    )
    if not found:
        return None
    match = rng.choice(found)
    return text[: match.start()] + rng.choice([name for name in MONTHS if name != match[0]]) + text[match.end() :]


def name(rng: random.Random, text: str, pool: list[str]) -> str | None:
    found = [match for match in NAME.finditer(text) if match[0].split()[0] not in MONTHS]
    if not found:
        return None
    match = rng.choice(found)
    put = rng.choice([one for one in pool if not set(one.split()) & set(text.split())])
    return text[: match.start()] + put + text[match.end() :]


def two_names(rng: random.Random, text: str) -> str | None:
    found = [match for match in NAME.finditer(text) if match[0].split()[0] not in MONTHS]
    for one, two in pairwise(found):
        between = text[one.end() : two.start()]
        if not re.fullmatch(r",? ?(?:and|or|,)? ?", between.strip()) and one[0] != two[0] and "," not in between:
            return text[: one.start()] + two[0] + between + one[0] + text[two.end() :]
    return None


def denial_in(rng: random.Random, text: str) -> str | None:
    found = list(AUXILIARY.finditer(text))
    if not found:
        return None
    match = found[0]
    return text[: match.end()] + " not" + text[match.end() :]


def denial_out(rng: random.Random, text: str) -> str | None:
    match = DENIED.search(text)
    return text[: match.end(1)] + text[match.end() :] if match else None


def opposite(rng: random.Random, text: str) -> str | None:
    for pair in OPPOSITES:
        for old, new in (pair, pair[::-1]):
            if match := re.search(rf"\b{old}\b", text):
                return text[: match.start()] + new + text[match.end() :]
    return None


def unit(rng: random.Random, text: str) -> str | None:
    for old, new in UNITS:
        if match := re.search(rf"(?<=\d)( ?){old}(?!\w)", text):
            return text[: match.start()] + match[1] + new + text[match.end() :]
    return None


def same(rng: random.Random, text: str) -> str | None:
    """Say the same in another way: an opening, figures as words, another form of the date, a contraction."""
    kept = text
    for digits, word in ((str(at), word) for at, word in enumerate(WORDS, 2)):
        kept = re.sub(rf"(?<![\w.,/–-]){digits}(?= [a-z])", word, kept) if rng.random() < 0.5 else kept
    kept = re.sub(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})\b", r"\2 \1, \3", kept)
    kept = re.sub(r"\b(is|was|were|did|does|do|could|would) not\b", r"\1n't", kept)
    kept = kept.replace(" per cent", "%")
    opening = rng.choice(("According to the source, ", "As the authors write, ", "In short, ", "Moreover, ", ""))
    if opening and kept[0].isupper() and not NAME.match("a " + kept, 2) and not kept.split()[0].isupper():
        kept = opening + (
            kept[0].lower() + kept[1:] if kept.split()[0] in {"The", "A", "It", "In", "This", "They", "He"} else kept
        )
    return kept if kept != text else None


def rows(begin: Path, fm2: Path) -> Iterator[tuple[str, str, str]]:
    """Source, true sentence, quote."""
    for folder in LIBRARIES:
        for path in sorted(Path(folder).glob("*.*")):
            for sentence in plain_sentences(path.read_text("utf-8")):
                yield "library", sentence, sentence
    claims = [json.loads(line) for line in fm2.read_text("utf-8").splitlines()]
    for claim in claims:
        for one in claim["gold_evidence"][:1]:
            if 40 <= len(one["text"]) <= 300 and one["text"].endswith("."):
                yield "fm2_evidence", one["text"], one["text"]
        if claim["label"] == "SUPPORTS":
            yield "fm2_claim", claim["text"], " ".join(one["text"] for one in claim["gold_evidence"])
    for line in begin.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["begin_label"] == "Fully attributable":
            yield "begin", row["response"], row["knowledge"]


def main() -> None:
    rng = random.Random(7)
    found = list(dict.fromkeys(rows(Path(sys.argv[1]), Path(sys.argv[2]))))
    rng.shuffle(found)
    pool = sorted(
        {match[0] for _, text, _ in found for match in NAME.finditer(text) if match[0].split()[0] not in MONTHS}
    )
    changes = {
        "number": one_number, "number_word": number_word, "two_numbers": two_numbers, "year": year, "month": month,
        "name": lambda r, t: name(r, t, pool), "two_names": two_names, "denial_in": denial_in, "denial_out": denial_out,
        "opposite": opposite, "unit": unit,
    }  # fmt: skip
    left = {"library": 90, "fm2_evidence": 90, "fm2_claim": 30, "begin": 80}
    for source, sentence, quote in found:
        if not left[source]:
            continue
        made = [
            (kind, changed)
            for kind, change in changes.items()
            if (changed := change(rng, sentence)) and changed != sentence
        ]
        if not made:
            continue
        left[source] -= 1
        half = "ab"[hashlib.sha256(quote.encode()).digest()[0] % 2]
        if source != "begin" and source != "fm2_claim" and (kept := same(rng, sentence)):
            made.append(("same", kept))
        rare = [one for one in made if one[0] not in {"number", "name", "denial_in", "same"}]
        picked = [("none", sentence), *rng.sample(made, min(2, len(made))), *rng.sample(rare, min(1, len(rare)))]
        for kind, text in dict.fromkeys(picked):
            print(
                json.dumps(
                    {"source": source, "half": half, "change": kind, "sentence": text, "quote": quote},
                    ensure_ascii=False,
                )
            )


if __name__ == "__main__":
    main()
