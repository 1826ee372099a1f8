"""PDF files as documents, by way of PDFium: columns in the order of reading, running heads dropped, pages known.

What no reader sees is left out. To be called in a process that can be ended: see `reader_pool`.
"""

import ctypes
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from math import hypot

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as raw  # type: ignore[import-untyped]

from agents.contracts.frozen import Said
from agents.core.errors import SourceError
from agents.nlp.tokens import language_of, one_line, stop_words, visible
from agents.web.decoding import MAX_NAME, Document, file_name, iso_date, name_of, title_of
from agents.web.formulas import grouped, lowered, raised, runs_joined
from agents.web.pdf_layout import Flow, Line, Word, lines_of, without_heads
from agents.web.pdf_look import Box, Look, Style, with_fields
from agents.web.url_key import host_of

SCAN = "it is a scan without text"
LOCKED = "it is locked with a password"
BROKEN = "it is a broken PDF file"
EMPTY = "it has no text"
GARBLED = "its letters cannot be read: a font says something else than it shows"

_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
_MADE_UP_DATE = "D:20000101000000"  # written by a library that is told to make equal files
MAX_PAGES = 1_000
MAX_CHARS = 3_000_000
READING_S = 12.0  # seconds after which no further page is begun
_FEW = 50  # letters of a page that holds no text to speak of
_WORD = re.compile(r"[^\s\ufffe]+")
_MIXED = re.compile(r"[A-Za-z][!\"#$%)*+;<=>?@\\\]^_`{|}~]+[A-Za-z]")  # signs within a word
_RIGHT_TO_LEFT = re.compile("[\u0590-\u065f\u066e-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{2,}")
_HYPHENATED = re.compile(r"\w+(?:-\w+)+")
_SMALLER = 0.86  # of the height of the letters around it, what a raised or lowered one has at most
_INITIAL = 2.2  # times as high as the letters behind it
_MARK = 8  # characters of an exponent or a mark, at most
_JUDGED = 40  # letters from which a page is judged by them
_MEANINGFUL = 0.70  # how near the letters of a text come to those of European languages; 0.82 to 0.9 is usual
_OFTEN = dict(zip("etaonirsldhucmpgfyvbwkxzjq", (12.5, 7, 8.5, 6.3, 7.2, 7.5, 6.6, 6.8, 4.6, 4, 2.5, 4, 3.2, 2.9, 2.6,
    1.9, 1.3, 1.4, 1.6, 1.5, 1.2, 1.2, 0.2, 0.8, 0.4, 0.4), strict=True))  # fmt: skip
_LATIN = ("en", "de", "fr", "es", "it", "pt", "nl", "sv")


def read_pdf(body: bytes, url: str) -> Document:
    """Read a PDF file, for at most about `READING_S` seconds; a `SourceError` for a scan, a locked, broken or empty one.

    PDFium is not made for threads: one call at a time.
    """
    deadline = time.monotonic() + READING_S
    try:
        pdf = pypdfium2.PdfDocument(body)
        pdf.init_forms()
        total = len(pdf)
    except pypdfium2.PdfiumError as error:
        raise SourceError(url, LOCKED if "password" in str(error).lower() else BROKEN) from error
    pages, widths = list[list[Line]](), list[float]()
    unread, garbled, unnamed = list[int](), list[int](), list[int]()
    pictures = most = failed = size = 0

    for number in range(1, min(total, MAX_PAGES) + 1):
        if time.monotonic() > deadline or size > MAX_CHARS:
            break
        try:
            page = pdf[number - 1]
            look = Look(page, page.get_textpage())
            words = with_fields(_words(look), page)
            letters = sum(len(word.text) for word in words)
            has_picture = letters < _FEW and look.pictured > 0
            widths.append(page.get_width())
        except pypdfium2.PdfiumError:
            words, letters, has_picture, failed = [], 0, False, failed + 1
            widths.append(0.0)
        fonts = {word.font for word in words}
        strange = {font for font in fonts if _is_garbled([word for word in words if word.font == font])}
        clear = [word for word in words if word.font not in strange]
        if strange and sum(len(word.text) for word in clear) < _FEW:
            garbled.append(number)
            words, letters = [], 0
        elif strange or any("\ufffd" in word.text for word in words):
            unnamed.append(number)
            words = clear
        elif letters < _FEW / 5 and (has_picture or widths[-1] == 0):
            unread.append(number)
        pages.append(lines_of(words))
        pictures += has_picture
        most, size = max(most, letters), size + letters
    if most < _FEW and pictures:
        raise SourceError(url, SCAN)
    if not size:
        raise SourceError(url, GARBLED if garbled else BROKEN if failed else EMPTY)
    without = without_heads(pages)
    within = (word.text for page in without for line in page for word in line.words[:-1] if "-" in word.text)
    flow = Flow(frozenset(match[0].casefold() for text in within if (match := _HYPHENATED.search(text))))
    for lines, width in zip(without, widths, strict=True):
        flow.add(lines, width)
    facts = pdf.get_metadata_dict()
    text = flow.text
    gaps = {
        "some pages could not be read ({pages} / {all})": _named(unread),
        "the letters of some pages could not be read ({pages} / {all})": _named(garbled),
        "some letters could not be read ({pages} / {all})": _named(unnamed),
        "only its first pages were read ({pages} / {all})": str(len(pages)) if len(pages) < total else "",
    }
    return Document(
        title=title_of(facts.get("Title", ""), text) or _headline(pages[0]) or file_name(url),
        text=text,
        author=name_of(facts.get("Author", "")),
        site=host_of(url) or None,
        published=_date(facts.get("CreationDate", "")),
        language=language_of(text),
        pages=tuple(flow.pages),
        gaps=tuple(Said(form, pages=some, all=total) for form, some in gaps.items() if some),
    )


def _words(look: Look) -> list[Word]:
    """Give the words of a page that a reader sees, in the order in which it draws them."""
    found: list[Word] = []
    for word in _with_fractions(list(_drawn(look.text_page, look)), look):
        before = found[-1] if found else None
        # A letter as high as several lines begins the text.
        if before and len(before.text) == 1 and before.text.isupper() and before.size > _INITIAL * word.size > 0:
            joined = before.text + word.text
            if before.text not in "AIO" or joined.casefold() in stop_words("en"):
                found[-1] = replace(word, text=joined, left=before.left)
                continue
        elif before and (script := _script_after(before, word)):
            found[-1] = replace(
                before, text=before.text + script, right=word.right, ends_line=word.ends_line, after_script=True
            )
            continue
        if before and before.ends_line and _goes_on(before, word):
            found[-1] = replace(before, ends_line=False)
        found.append(word)
    return found


def _drawn(text_page: pypdfium2.PdfTextPage, look: Look) -> Iterator[Word]:
    text, places = _letters(text_page)
    box = raw.FS_RECTF()
    # Words that run to the left come in the order of their letters, or in that of their places.
    for run in _RIGHT_TO_LEFT.finditer(text):
        if _box(text_page, places[run.start()], box)[0] < _box(text_page, places[run.end() - 1], box)[0]:
            text = text[: run.start()] + run[0][::-1] + text[run.end() :]
    found = list(_WORD.finditer(text))
    held: Word | None = None
    for at, match in enumerate(found):
        between = text[match.end() : found[at + 1].start()] if at + 1 < len(found) else "\n"
        first, last = places[match.start()], places[match.end() - 1]
        (left, bottom, end, top), (begin, _, right, _) = (_box(text_page, one, box) for one in (first, last))
        left, right = min(left, begin), max(end, right)
        written, is_script = visible(match[0]), False
        size, baseline = look.set(first, match[0][0])
        if len(written) > 1 and (any(map("0123456789+".count, written)) or look.set(last) != (size, baseline)):
            sets = _signed(match[0], [look.set(places[one], text[one]) for one in range(*match.span())])
            largest = max(range(len(sets)), key=lambda one: sets[one][0])
            size, baseline = sets[largest]
            _, bottom, _, top = _box(text_page, places[match.start() + largest], box)
            runs = [(_kind(one, (size, baseline)), letter) for letter, one in zip(match[0], sets, strict=True)]
            written, is_script = runs_joined((kind, visible(letter)) for kind, letter in runs), bool(runs[-1][0])
        word = Word(
            written, left, right, bottom, top, "\n" in between, "\ufffe" in between, size, baseline, is_script,
            look.font(first),
        )  # fmt: skip
        if held and look.is_struck(word) and word.baseline == held.baseline:
            held = replace(held, right=word.right, ends_line=word.ends_line)  # no gap between cells
        elif written and look.shows(first, word):
            yield from filter(None, (held,))
            held = word
    yield from filter(None, (held,))


def _with_fractions(words: list[Word], look: Look) -> list[Word]:
    """Write fractions in one line: words right above a short bar and words right below it, in its middle."""
    for height, left, right in look.bars:
        beside = [word for word in words if left - 1 <= word.left and word.right <= right + 1 and word.size]
        over = [word for word in beside if 0.17 * word.size < word.baseline - height < 0.9 * word.size]
        under = [word for word in beside if 0.5 * word.size < height - word.baseline < word.size]
        sides = [(part[0].left, part[-1].right) for part in (over, under) if part]
        is_centred = all(abs(start + end - left - right) <= 3 for start, end in sides)
        if len(sides) < 2 or not is_centred or max(end - start for start, end in sides) < 0.7 * (right - left):
            continue
        level = [word for word in words if word not in over and abs(word.baseline - over[0].baseline) < 1]
        if any(min(abs(word.left - right), abs(left - word.right)) < over[0].size / 2 for word in level):
            continue  # a line of text above a table
        size = max(over[0].size, under[0].size)
        baseline = height - 0.25 * size
        near = [one for one in words if abs(one.baseline - baseline) < 0.25 * max(one.size, 1) and one not in beside]
        usual = min(near, key=lambda one: abs(one.right - left), default=over[0])
        text = "/".join(grouped(" ".join(word.text for word in part)) for part in (over, under))
        whole = replace(
            # Its letters are as high as those of its line, so that lines stay lines.
            usual, text=text, left=left, right=right, ends_line=True, hyphen=False, after_script=False, font=0,
            baseline=baseline if usual is over[0] else usual.baseline,
        )  # fmt: skip
        at = min(words.index(word) for word in (*over, *under))
        words = [*words[:at], whole, *(word for word in words[at:] if word not in over and word not in under)]
    return words


def _letters(text_page: pypdfium2.PdfTextPage) -> tuple[str, list[int]]:
    """Give the characters of a page and where each of them stands; halves of a pair become one."""
    letters: list[str] = []
    places: list[int] = []
    for at in range(text_page.count_chars()):
        code = raw.FPDFText_GetUnicode(text_page, at)
        if 0xDC00 <= code < 0xE000 and letters and 0xD800 <= ord(letters[-1]) < 0xDC00:
            letters[-1] = chr(0x10000 + (ord(letters[-1]) - 0xD800) * 0x400 + code - 0xDC00)
            continue
        # Two is a hyphen at the end of a line, none a sign that the font does not name.
        letters.append("\ufffe" if code == 2 else chr(code or 0xFFFD))
        places.append(at)
    return "".join(" " if "\ud800" <= letter <= "\udfff" else letter for letter in letters), places


def _signed(letters: str, sets: list[Style]) -> list[Style]:
    """Raise the sign of a raised figure with it."""
    for at in range(len(sets) - 1):
        if letters[at] in "-−–+" and sets[at][0] > sets[at + 1][0] and sets[at + 1][1] > sets[at][1]:
            sets[at] = sets[at + 1]
    return sets


def _kind(one: Style, base: Style) -> str:
    """Tell a raised or lowered character from those that it stands beside; one as large as they stands well off their line."""
    if not one[0] or one[0] > base[0]:
        return ""
    rise = one[1] - base[1]
    if one[0] > _SMALLER * base[0]:
        return "raised" if 0.25 < rise / base[0] < 0.6 else "lowered" if -0.45 < rise / base[0] < -0.2 else ""
    return "raised" if rise > 0.12 * base[0] else "lowered" if rise < -0.04 * base[0] else ""


def _script_after(before: Word, word: Word) -> str:
    """Write a word that is an exponent, an index or a mark of the one before it, or the full stop after such a mark."""
    gap = word.left - before.right
    stacked = 0.7 if before.after_script else 0.3  # an index stands below a power
    if not -stacked * before.size < gap < 0.4 * before.size or abs(word.baseline - before.baseline) > before.size:
        return ""
    if before.after_script and not word.text[0].isalnum() and word.text[0] in ".,;:!?)" and gap < 0.15 * before.size:
        return word.text
    kind = _kind((word.size, word.baseline), (before.size, before.baseline))
    is_large = word.size > _SMALLER * before.size
    if not kind or len(word.text) > _MARK or (is_large and not (gap < 0.12 * before.size and word.text.isdigit())):
        return ""
    return raised(word.text) if kind == "raised" else lowered(word.text)


def _goes_on(before: Word, word: Word) -> bool:
    """Tell a word that stands in the line of another, and near it, although a line seemed to end there."""
    least, most = (-1.0, 2.0) if before.after_script else (-0.3, 0.6)
    apart = 1.0 if before.text.endswith("√") else 0.2  # a root stands as high as what it is drawn over
    near = least * before.size < word.left - before.right < most * before.size
    return near and abs(word.baseline - before.baseline) < apart * before.size


def _box(text_page: pypdfium2.PdfTextPage, at: int, box: raw.FS_RECTF) -> Box:
    """Give the edges of a character: left, bottom, right, top, as high as its font."""
    raw.FPDFText_GetLooseCharBox(text_page, at, ctypes.byref(box))
    return box.left, box.bottom, box.right, box.top


def _is_garbled(words: Sequence[Word]) -> bool:
    """Tell letters that mean nothing: a font without a table of its letters, or with a wrong one."""
    text = "".join(word.text for word in words)
    strange = sum(unicodedata.category(letter) in {"Co", "Cn"} or letter == "\ufffd" for letter in text)
    if strange > 0.2 * len(text):
        return True
    latin = Counter(letter for letter in text.casefold() if letter in _OFTEN)
    mixed = sum(bool(_MIXED.search(word.text)) for word in words)
    if latin.total() < _JUDGED or (2 * latin.total() < len(text) and 5 * mixed < len(words)):
        return False
    product = sum(latin[letter] * share for letter, share in _OFTEN.items())
    likeness = product / (hypot(*latin.values()) * hypot(*_OFTEN.values()))
    known = frozenset[str]().union(*map(stop_words, _LATIN))
    meant = sum(len(word.text) > 1 and word.text.casefold() in known for word in words)
    return likeness < _MEANINGFUL and 8 * meant < len(words)


def _named(numbers: Sequence[int]) -> str:
    runs = ([number for _, number in run] for _, run in groupby(enumerate(numbers), lambda one: one[1] - one[0]))
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _headline(lines: Sequence[Line]) -> str:
    """Give the line in the largest letters near the top of the first page, with the lines that go on with it."""
    upper = [line for line in lines[:12] if any(letter.isalpha() for letter in line.text())]
    if not upper:
        return ""
    largest = max(upper, key=lambda line: line.height)
    at, is_set_off = upper.index(largest), largest.height >= 1.15 * upper[-1].height
    following = takewhile(lambda line: is_set_off and abs(line.height - largest.height) <= 0.5, upper[at + 1 : at + 4])
    return one_line(" ".join(line.text() for line in (largest, *following)))[:MAX_NAME].strip()


def _date(written: str) -> str | None:
    match = None if written.startswith(_MADE_UP_DATE) else _DATE.match(written)
    found = iso_date("-".join(filter(None, match.groups()))) if match else None
    return found if found and "1985" <= found[:4] <= "2100" else None
