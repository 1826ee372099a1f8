"""Bytes to characters: what the bytes prove first, then what the sender says, then a guess.

A document as it was read from bytes, whatever the bytes were: text, what it says about itself, what is missing.
"""

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from pydantic import TypeAdapter

from agents.contracts.frozen import Said
from agents.nlp.tokens import one_line

NOT_TEXT = "it is not a text"
_NO_NAME = {
    "anonymous", "unknown", "user", "admin", "administrator", "owner", "author", "default", "unspecified", "pc", "none",
    "python-docx", "openpyxl",
}  # fmt: skip
MAX_NAME = 160  # characters of an author, site or title, at most; whatever is longer is no name
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]{0,80}?encoding=[\"']([\w.:-]+)", re.I
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
_TAGS = re.compile(rb"<(?:script|style)\b.*?</(?:script|style)>|<[^>]{0,2000}>", re.I | re.S)
_HEAD = 4_096  # bytes in which a page declares its encoding
_MUCH = 0.4  # share of non-ASCII bytes from which a text is in no Latin script
_BEGINNING = 20_000  # characters of a text that bear out a title
_SAMPLE = 60_000  # bytes shown to the detector

# What browsers take these names for (WHATWG): the declared sets are subsets of those that pages really use.
_MEANT = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030",
    "shift_jis": "cp932", "euc_kr": "cp949", "johab": "cp949", "iso8859-11": "cp874", "tis-620": "cp874",
}  # fmt: skip
_CALLED = {"x-sjis": "cp932", "x-gbk": "gbk", "windows-874": "cp874", "ks_c_5601-1987": "euc_kr", "utf8": "utf-8"}
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?=$|[T\s])")
_DATE_FORMS = ("%d %B %Y", "%B %d, %Y", "%d.%m.%Y", "%Y/%m/%d", "%B %Y")
# The detector is kept from exotic sets that it likes for short texts.
_LIKELY = [
    "cp1251", "cp1252", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874", "koi8_r", "iso8859_2",
    "gb18030", "big5", "cp932", "euc_jp", "cp949",
]  # fmt: skip


def is_pdf(body: bytes) -> bool:
    """Tell a PDF file by its beginning, which may stand after some stray bytes."""
    return b"%PDF-" in body[:1024]


def is_zip(body: bytes) -> bool:
    """Tell an archive, which office files are, by its first bytes."""
    return body.startswith(b"PK\x03\x04")


def decode(raw: bytes, declared: str | None = None) -> str:
    """Turn the bytes of a text file or page into characters. Never fails, and adds no replacement characters.

    Order: byte order mark; UTF-8 if the bytes are valid UTF-8, which does not happen by accident; the declared set; the
    one that the page names; a guess. A few stray bytes in a UTF-8 page are read as windows-1252.
    """
    for bom, name in _BOMS:
        if raw.startswith(bom):
            return raw[len(bom) :].decode(name, "ignore")
    page = _META.search(raw[:_HEAD])
    in_page = (page[1] or page[2]).decode("ascii", "ignore") if page else ""
    names = [codec for said in (_named(declared), in_page) if said and (codec := _codec(said))]
    with suppress(UnicodeDecodeError):
        return raw.decode("utf-8")
    for name in names:
        with suppress(UnicodeDecodeError):
            if name != "utf-8":
                return raw.decode(name, "ignore" if name in {"cp1252", "cp1254"} else "strict")
    return _guessed(raw, says_utf8="utf-8" in names)


def _guessed(raw: bytes, *, says_utf8: bool) -> str:
    shown = b"".join(_TAGS.sub(b" ", raw[:_SAMPLE]).split())
    high = sum(byte > 0x7F for byte in shown)
    is_latin = high < _MUCH * len(shown)  # accents are few; elsewhere nearly every byte lies beyond ASCII
    proper = sum(len(char.encode()) for char in shown.decode("utf-8", "ignore") if char > "\x7f")
    if (says_utf8 and is_latin) or proper >= 0.9 * high:
        return raw.decode("utf-8", "cp1252-bytes")
    from charset_normalizer import from_bytes  # takes a moment to load, for few pages

    best = from_bytes(_TAGS.sub(b" ", raw[:_SAMPLE]), cp_isolation=_LIKELY, threshold=0.4).best()
    name = best.encoding if best is not None else "cp1252"
    if is_latin and name != "cp1254":
        name = "cp1252"
    with suppress(UnicodeDecodeError):
        return raw.decode(name)
    return raw.decode("cp1252", "ignore")


def _named(declared: str | None) -> str:
    if not declared:
        return ""
    match = _CHARSET.search(declared)
    return match[1] if match else "" if "/" in declared else declared.strip()


def _codec(name: str) -> str | None:
    """Give Python's name of a charset as browsers understand it; None when there is no such text encoding."""
    try:
        found = codecs.lookup(_CALLED.get(name.lower(), name))
        b"a".decode(found.name)  # refuses codecs that are not for text, such as rot13
    except (LookupError, UnicodeDecodeError):
        return None
    if found.name.startswith(("utf-16", "utf-32")):
        return "utf-8"  # a page that was readable enough to be declared so is not UTF-16
    return _MEANT.get(found.name, found.name)


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    """Read the bytes at hand, which are no UTF-8, as what they mostly are then."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "ignore"), error.end


codecs.register_error("cp1252-bytes", _as_cp1252)


def file_name(url: str) -> str:
    """Give the name of a file for its reader: without folders, ending and the signs that stand for spaces."""
    name = PurePosixPath(unquote(urlsplit(url).path)).stem
    return " ".join(name.replace("_", " ").replace("-", " ").split()) or (urlsplit(url).hostname or "Untitled")


def iso_date(written: str) -> str | None:
    """Give a date as ISO 8601, as precise as it is written; None when it is none."""
    written = written.strip()
    if match := _DATE.match(written):
        with suppress(ValueError):
            date(int(match[1]), int(match[2] or 1), int(match[3] or 1))  # a check that the day exists
            return "-".join(filter(None, match.groups()))
        return None
    for form in _DATE_FORMS:
        with suppress(ValueError):
            found = datetime.strptime(written, form)  # noqa: DTZ007 - a day, not a moment
            return found.strftime("%Y-%m-%d" if "%d" in form else "%Y-%m")
    return None


def title_of(declared: str, text: str) -> str:
    """Give the title that a file states beside its text, where its text bears it out; else nothing.

    Readers of a file never see what is stated so: it may be that of a template, or made for machines.
    """
    words = [word for word in re.findall(r"\w+", declared.casefold()) if len(word) > 1 or word > "\u2e7f"]
    held = text[:_BEGINNING].casefold()
    borne_out = 2 * sum(word in held for word in words) > len(words)
    return one_line(declared)[:MAX_NAME].strip() if words and borne_out else ""


def name_of(text: str | None) -> str | None:
    """Give a name of a person or site; None for addresses, for sentences in the place of a name, and for programs."""
    name = one_line(text or "").removeprefix("By ")
    words = name.split()
    # Names of more than a few words are those of bodies, and have capitals.
    is_sentence = len(words) > 4 and 2 * sum(word[0].islower() for word in words) > len(words)
    is_name = any(map(str.isalpha, name)) and len(name) <= MAX_NAME and not re.search("://|@", name)
    return name if is_name and not is_sentence and name.casefold() not in _NO_NAME else None


@dataclass(frozen=True)
class Document:
    """A document as text, with what it says about itself."""

    title: str
    text: str
    """Readable text: paragraphs and headings parted by blank lines, items as `- …`, table rows as `a | b | c`."""
    author: str | None = None
    site: str | None = None
    published: str | None = None
    """ISO date, as precise as the document says."""
    language: str | None = None
    """ISO 639-1 code."""
    pages: tuple[tuple[int, int], ...] = ()
    """Where each page stands in the text, as start and end, in order; a page that could not be read is empty. Nothing
    for documents without pages."""
    canonical: str | None = None
    """The address that the document gives for itself, absolute."""
    links: tuple[tuple[str, str], ...] = ()
    """Address and label of each link of its text to a page of the same site."""
    gaps: tuple[Said, ...] = ()
    """What of it was not read, for the reader of the report: `some pages could not be read (2 / 2)`. Empty when all was."""


WRITTEN = TypeAdapter(Document)
"""Writes a document as JSON, for another process, and reads it back."""
