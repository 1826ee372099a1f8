"""A full-text index of documents in one SQLite file. Knows texts and words; knows no folders and reads no files.

The file is a cache: it can be deleted at any time, and is built anew when its layout is not the present one.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from agents.contracts.frozen import Said, digest
from agents.contracts.sources import DocumentNote, Hit, SearchQuery, SearchResult, Source
from agents.nlp.lang import spans
from agents.nlp.meaning import meaning
from agents.nlp.similarity import closeness, direction, fingerprint
from agents.nlp.tokens import content_words, language_of, segmented
from agents.search.telling_terms import Phrase, phrases, telling

LAYOUT = 7  # raised when the tables, or what is written into them, change
NAMED = 1.5  # what a document gains that a search names
PASSAGE = 5  # sentences of a passage; the last one is the first of the next
_TITLE_WEIGHT = 3.0  # a word of the title against one of the passage
_THEMES = 6
_PASSAGES_SEEN = 60  # passages looked at for each document asked for
_RERANKED = 3  # times as many documents as asked for are ranked again by their titles
_MEANT = 0.6  # what a passage gains that points the same way, as a share of the best score by words
_READ_AS_NEAR = 1.0  # the same, where a model has read it beside the search
_ASIDE = re.compile(r"\s*\([^()]*\)")
_MAX_TERMS = 64
_MAX_SNIPPET = 700

_TABLES = Path(__file__).with_name("index.sql").read_text("utf-8")

_FIRST_OF_TWINS = """not exists (select 1 from document as twin where twin.words_hash = document.words_hash
    and ((twin.author is null) + (twin.published is null), twin.url)
        < ((document.author is null) + (document.published is null), document.url))"""
"""Of documents with the same words, the one that says most of itself stands for all."""


_MATCHED = f"""from passage_words join passage on passage.id = passage_words.rowid
    join document on document.id = passage.document where passage_words match ?2 and {_FIRST_OF_TWINS}"""
_FIND = f"""select passage.document, passage.start, passage.stop, passage.direction, -bm25(passage_words, ?1, 1.0) as goodness
    {_MATCHED}
    and (?3 is null or document.published is null
        or substr(document.published, 1, length(?3)) >= substr(?3, 1, length(document.published)))
    and (?4 is null or document.published is null
        or substr(document.published, 1, length(?4)) <= substr(?4, 1, length(document.published)))
    order by goodness desc, document.url limit ?5"""


@dataclass(frozen=True)
class FileOutcome:
    """What came of a file: a document, or the reason why it is none."""

    url: str
    stamp: str
    """Changes when the file does."""
    source: Source | None = None
    reason: Said = field(default_factory=Said)


class Passage(NamedTuple):
    """A passage that words have found; a higher score is better."""

    document: int
    start: int
    stop: int
    direction: bytes
    score: float


class Index:
    """The documents and passages of one index file, or of none: then it is gone with its process.

    Not for several threads at once. A file that cannot be read or written is a `sqlite3.Error` of every method.
    """

    def __init__(self, path: Path | None) -> None:
        self._noted: tuple[int, dict[str, DocumentNote]] | None = None
        if path is None:
            self._db = sqlite3.connect(":memory:", check_same_thread=False)
            self._db.executescript(_TABLES)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = _opened(path)

    def close(self) -> None:
        self._db.close()

    def stamps(self) -> dict[str, str]:
        """Give the address of every document and every skipped file, and the stamp it was read with."""
        rows = self._db.execute("select url, stamp from document union all select url, stamp from skipped")
        return {str(url): str(stamp) for url, stamp in rows}

    def skipped(self) -> list[tuple[str, Said]]:
        rows = self._db.execute("select url, reason from skipped order by url")
        return [(str(url), Said.read(json.loads(reason))) for url, reason in rows]

    def change(self, removed: Iterable[str], added: Iterable[FileOutcome]) -> None:
        """Bring the index up to date in one transaction."""
        self._noted = None
        with self._db:
            for url in removed:
                self._remove(url)
            for one in added:
                self._remove(one.url)
                if one.source is None:
                    reason = json.dumps(one.reason.written())
                    self._db.execute("insert into skipped values (?, ?, ?)", (one.url, one.stamp, reason))
                else:
                    self._add(one.source, one.stamp)

    def search(self, query: SearchQuery, provider: str) -> SearchResult:
        """Find the documents whose passages hold words of the query, best first; of those with the same words one.

        Nothing in its text is an operator. Its domains do not apply; dates do, where a document has one.
        """
        text, limit = query.text, query.max_results
        terms = _terms(text)
        if not terms:
            return SearchResult(query=text, provider=provider)
        values = (_TITLE_WEIGHT, " OR ".join(terms), query.date_from, query.date_to, limit * _PASSAGES_SEEN)
        passages = [Passage(*found) for found in self._db.execute(_FIND, values)]
        # A document is as good as its best passage: adding the next best ones favoured long documents and found less.
        best: dict[int, Passage] = {}
        for passage in by_meaning(text, passages):
            best.setdefault(passage.document, passage)
        hits = [self._hit(one, provider) for one in list(best.values())[: limit * _RERANKED]]
        if len(best) > len(hits):  # else as many are read in any case: a model takes a hundredth of a second for each
            hits = read_near(text, hits)
        return SearchResult(query=text, provider=provider, hits=tuple(reranked(text, hits)[:limit]))

    def document(self, url: str) -> Source | None:
        """Give the document at an address; None when there is none."""
        row = self._db.execute("select source, text from document where url = ?", (url,)).fetchone()
        return Source.model_validate({**json.loads(row[0]), "text": row[1]}) if row else None

    def matching(self, text: str) -> tuple[str, ...]:
        """Give the addresses of the documents that hold two content words of `text`, or its only one."""
        terms = _terms(text)
        query = f"select distinct document.url {_MATCHED}"
        held = Counter(str(url) for term in terms for (url,) in self._db.execute(query, (None, term)))
        return tuple(sorted(url for url, count in held.items() if count >= min(2, len(terms))))

    def notes(self) -> dict[str, DocumentNote]:
        """Describe every document, by address, until one changes; of those with the same words one."""
        (version,) = self._db.execute("pragma data_version").fetchone()  # moved by other programs, not by this one
        if self._noted is None or self._noted[0] != version:
            found = self.phrases()
            spread = Counter(phrase.key for one in found.values() for phrase in one)
            rows = self._db.execute(
                f"select url, title, published, language from document where {_FIRST_OF_TWINS} order by url"
            )
            notes = {
                url: DocumentNote(
                    title=title, published=published, language=language,
                    themes=telling(found[url], spread, len(found), _THEMES),
                )
                for url, title, published, language in rows
            }  # fmt: skip
            self._noted = version, notes
        return self._noted[1]

    def phrases(self, urls: Collection[str] = ()) -> dict[str, list[Phrase]]:
        """Give the phrases of some documents, by address; of all where none is named."""
        rows = self._db.execute(f"select url, phrases from document where {_FIRST_OF_TWINS}")
        return {url: [Phrase(*one) for one in json.loads(found)] for url, found in rows if not urls or url in urls}

    def _hit(self, passage: Passage, provider: str) -> Hit:
        url, title, published, snippet = self._db.execute(
            "select url, title, published, substr(text, ?, ?) from document where id = ?",
            (passage.start + 1, passage.stop - passage.start, passage.document),
        ).fetchone()
        if len(snippet) > _MAX_SNIPPET:
            cut = snippet.rfind(" ", 0, _MAX_SNIPPET)
            snippet = snippet[: cut if cut > 0 else _MAX_SNIPPET].rstrip() + " …"
        score = round(passage.score, 4)
        return Hit(url=url, title=title, snippet=snippet, score=score, published=published, provider=provider)

    def _remove(self, url: str) -> None:
        self._db.execute("delete from skipped where url = ?", (url,))
        for row in self._db.execute("select id from document where url = ?", (url,)).fetchall():
            for table in ("passage_words where rowid in (select id from passage where document = ?)",
                          "passage where document = ?", "document where id = ?"):  # fmt: skip
                self._db.execute(f"delete from {table}", row)

    def _add(self, source: Source, stamp: str) -> None:
        told = json.dumps(phrases(source.text, source.title, source.language), ensure_ascii=False)
        number = self._db.execute(
            "insert into document values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                source.url, stamp, source.title, source.author, source.published, source.language,
                source.model_dump_json(exclude={"text"}), source.text, digest(fingerprint(source.text), 32), told,
            ),
        ).lastrowid  # fmt: skip
        title = segmented(source.title)
        for start, stop in _passages(source.text):
            part = source.text[start:stop]
            passage = (number, start, stop, direction(f"{source.title}. {part}"))
            added = self._db.execute("insert into passage values (null, ?, ?, ?, ?)", passage).lastrowid
            words = (added, title, segmented(part))
            self._db.execute("insert into passage_words(rowid, title, body) values (?, ?, ?)", words)


def by_meaning(text: str, passages: Sequence[Passage]) -> list[Passage]:
    """Put passages first that point the way of `text`, among those that words have found; each score is raised by it.

    What shares no word with a search is not looked for: a direction always has a nearest passage, also where the library
    holds nothing on the matter, and no bound tells the two apart.
    """
    wanted, unit = direction(text), _MEANT * max((one.score for one in passages), default=0.0)
    raised = (one._replace(score=one.score + unit * max(0.0, closeness(wanted, one.direction))) for one in passages)
    return sorted(raised, key=lambda one: -one.score)


def read_near(text: str, found: Sequence[Hit]) -> list[Hit]:
    """Raise the score of each document by how near a model reads its passage to a search."""
    if language_of(text) != "en" or not (wanted := meaning(text)):
        return list(found)
    unit = _READ_AS_NEAR * found[0].score
    near = (max(0.0, closeness(wanted, meaning(f"{one.title}: {one.snippet}"))) for one in found)
    return [one.model_copy(update={"score": one.score + unit * much}) for one, much in zip(found, near, strict=True)]


def reranked(text: str, found: Sequence[Hit]) -> list[Hit]:
    """Put documents first that a search names."""
    return sorted(found, key=lambda one: -one.score * (NAMED if names(text, one.title) else 1.0))


def names(text: str, title: str) -> bool:
    """Tell whether all words of a title, what stands in brackets aside, are among those of a search."""
    words = frozenset(content_words(_ASIDE.sub("", title), language_of(text)))
    return bool(words) and words <= frozenset(content_words(text))


def _opened(path: Path) -> sqlite3.Connection:
    """Open the index, or begin a new one when the file is of another layout or damaged."""
    try:
        db = _connected(path)
        if db.execute("pragma user_version").fetchone()[0] == LAYOUT:
            return db
        db.close()
    except sqlite3.OperationalError:  # it is locked, or the disk is full
        raise
    except sqlite3.DatabaseError:  # it is damaged
        pass
    for leftover in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        leftover.unlink(missing_ok=True)
    db = _connected(path)
    db.executescript(f"{_TABLES} pragma user_version = {LAYOUT};")
    return db


def _connected(path: Path) -> sqlite3.Connection:
    # Calls come one at a time, but from whichever thread is free.
    db = sqlite3.connect(path, timeout=10, check_same_thread=False)
    try:
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = normal")
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db


def _terms(text: str) -> list[str]:
    """Give the content words of a question as FTS5 strings: quoted, so that nothing a user writes is an operator."""
    words = dict.fromkeys(content_words(text))
    return [f'"{segmented(word)}"' for word in words][:_MAX_TERMS]


def _passages(text: str) -> Iterator[tuple[int, int]]:
    found = spans(text)
    for at in range(0, max(1, len(found) - 1), PASSAGE - 1):
        if part := found[at : at + PASSAGE]:
            yield part[0].start, part[-1].end
