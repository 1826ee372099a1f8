"""What the documents of an index talk about, for planning before anything is read."""

from collections import Counter

from agents.contracts.source import CorpusSurvey, DocumentNote
from agents.search.index import Index, Noted
from agents.search.telling_terms import telling, widespread

_DOCUMENT_THEMES = 6
_CORPUS_THEMES = 20


def survey_of(index: Index, question: str, limit: int) -> CorpusSurvey:
    """Tell what the documents that match `question` (all of them when it is empty) talk about; lists at most `limit`."""
    notes = {note.url: note for note in index.notes()}
    spread = Counter(phrase.key for note in notes.values() for phrase in note.phrases)
    matching = index.matching(question) if question else tuple(notes)
    found = [notes[one.url] for one in index.search(question, limit)] if question else list(notes.values())[:limit]
    about = [notes[url] for url in matching] or list(notes.values())
    dates = sorted(note.published for note in about if note.published)
    languages = Counter(note.language for note in about if note.language)

    def described(note: Noted) -> DocumentNote:
        themes = telling(note.phrases, spread, len(notes), _DOCUMENT_THEMES)
        return DocumentNote(
            url=note.url, title=note.title, themes=themes, published=note.published, language=note.language
        )

    return CorpusSurvey(
        documents=tuple(described(note) for note in found),
        total=len(notes),
        matching=len(matching),
        themes=widespread([note.phrases for note in about], _CORPUS_THEMES),
        date_from=dates[0] if dates else None,
        date_to=dates[-1] if dates else None,
        languages=tuple(language for language, _ in languages.most_common()),
    )
