"""Quotes: from what an extractor pointed at to words that really stand in the source, or to nothing."""

import re
from difflib import SequenceMatcher

from agents.contracts.fact import Fact, PointedFact
from agents.contracts.frozen import digest
from agents.contracts.sources import SentenceSpan, Source
from agents.nlp.tokens import language_of
from agents.verify.checks import carried, find_quote

MAX_RUN = 4
"""Sentences that one quote may run over; a longer pointer is cut to its first sentences."""
LIST_MARKER = re.compile(r"\s*(?:[-*+\u2022\u2013\u25aa]|\d{1,3}[.)])\s+")
"""What stands before a list item is not among its words."""
SHORTEST = 12
"""Characters of words that are looked for in a source."""
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
ALMOST = 0.92
"""Likeness from which differing words count as a slip of copying and are replaced by the source's own."""

_LEANS = re.compile(
    r"(?:it|its|this|that|these|those|they|their|he|his|she|her|such|however|but|here|there|er|sie|es|dies\w*|seine?|ihre?|il|elle|ils|elles|"
    r"ce|cette|él|ella|este|esta|su)\b",
    re.IGNORECASE,
)
"""Words that point at what was said before."""


def fact_of(
    pointed: PointedFact, source: Source, spans: tuple[SentenceSpan, ...], topic: str, language: str = "en"
) -> Fact | None:
    """Make a fact whose quote is verbatim in `source`, or None when what was pointed at does not stand there.

    Its statement is the quote itself, unless the model gave other words and the quote carries them.
    """
    # A heading that only says what the document is called states nothing.
    stating = tuple(n for n in pointed.sentences if 1 <= n <= len(spans) and not _is_title(spans[n - 1], source))
    found = _by_number(stating, source.text, spans) or _by_words(pointed.quote, source.text, spans)
    if found is None:
        return None
    start, end = found
    if marker := LIST_MARKER.match(source.text, start, end):
        start = marker.end()
    quote = source.text[start:end]
    if not quote.strip():
        return None
    return Fact(
        id="f" + digest(f"{source.id}:{start}:{end}", 10),
        source_id=source.id,
        statement=_carried(pointed.statement.strip(), quote, source, language) or " ".join(quote.split()),
        quote=quote,
        start=start,
        end=end,
        confidence=pointed.sure,
        topic=topic,
    )


def _is_title(span: SentenceSpan, source: Source) -> bool:
    return source.text[span.start : span.end].strip(" #*_.\n") == source.title.strip(" .")


def _carried(statement: str, quote: str, source: Source, language: str) -> str:
    """Give a statement that its own sentences carry; nothing in the place of any other."""
    if not statement or statement == quote:
        return ""
    found = carried(statement, [quote], language=language.split("-")[0], context=(source.title,))
    # In another language only figures, names and negations can be compared; nothing but those may decide.
    translated = language_of(quote) != language_of(statement) and not found.binding
    return statement if found.verdict == "supported" or translated else ""


def leans(sentence: str) -> bool:
    """Tell whether a sentence can't be understood without the one before it."""
    return bool(_LEANS.match(sentence.strip()))


def _by_number(numbers: tuple[int, ...], text: str, spans: tuple[SentenceSpan, ...]) -> tuple[int, int] | None:
    real = sorted({number for number in numbers if 1 <= number <= len(spans)})
    if not real:
        return None
    last = real[0]
    for number in real[1:]:
        # Words between two far-apart sentences were not pointed at: the quote ends before the gap.
        if number - last > 2 or number - real[0] >= MAX_RUN:
            break
        last = number
    first = real[0]
    while (
        first > 1
        and last - first + 1 < MAX_RUN
        and leans(text[spans[first - 1].start : spans[first - 1].end])
        and "\n" not in text[spans[first - 2].end : spans[first - 1].start].strip(" ")
    ):
        first -= 1
    return spans[first - 1].start, spans[last - 1].end


def _by_words(quote: str, text: str, spans: tuple[SentenceSpan, ...]) -> tuple[int, int] | None:
    wanted = quote.strip()
    if len(wanted) < SHORTEST:
        return None
    if place := find_quote(wanted, text):
        return place.start, place.end
    best, best_span = ALMOST, None
    for span in spans:
        matcher = SequenceMatcher(None, " ".join(text[span.start : span.end].split()), wanted, autojunk=False)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, best_span = ratio, span
    # Figures are never a slip of copying.
    if best_span is None or FIGURE.findall(text[best_span.start : best_span.end]) != FIGURE.findall(wanted):
        return None
    return best_span.start, best_span.end
