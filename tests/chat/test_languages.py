"""One language on a screen: what is said in English elsewhere has its sentence in the language of the talk."""

import re
import string
from pathlib import Path
from typing import get_args

import pytest

from agents.chat.texts import ChatTexts, locales
from agents.contracts.frozen import Said
from agents.contracts.sources import RejectedSource
from agents.core.errors import BadOutput, BadRequest, ModelError, ModelFault
from agents.llm.litellm_errors import notice_for
from agents.report.wording import wording
from agents.research.run_context import SAME_ATTEMPT

SOURCE = "\n".join(path.read_text("utf-8") for path in Path("agents").rglob("*.py"))
JOINED = re.sub(r'"\s*\n\s*f?"', "", SOURCE).replace("{{", "{").replace("}}", "}")


def names(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_german_has_every_text_of_the_chat_and_every_place_in_it():
    english, german = locales()["en"]["texts"], locales()["de"]["texts"]

    assert set(german) == set(english)
    assert {key for key, text in english.items() if names(text) != names(german[key])} == set()


def test_what_is_translated_by_its_english_sentence_is_said_somewhere_and_keeps_its_values():
    said = locales()["de"]["said"]
    orphans = {one for one in said if one.split(": --time")[0] not in JOINED}
    beside = "".join(Path(one).read_text("utf-8") for one in ("examples/starters.json", "agents/llm/words.toml"))

    assert {text for text in orphans if text not in beside} == set()
    # A German sentence may leave out a value that is told in English only.
    assert {text for text, german in said.items() if not names(german) <= names(text)} == set()


@pytest.mark.parametrize(
    ("error", "german"),
    [
        (BadOutput("planner", reason="no", attempts=2), "Das Modell gab keine brauchbare Antwort"),
        (BadRequest("“{name}” was not added: {why}.", name="a.pdf", why="it is empty"), "„a.pdf“ wurde nicht aufgenommen: leer."),
        (BadRequest("A sentence that nobody translated."), "A sentence that nobody translated."),
    ],
    ids=["of its kind", "with values", "as it is"],
)  # fmt: skip
def test_an_error_is_said_in_the_language_of_the_talk(error, german):
    assert ChatTexts("de").said(error.notice).startswith(german)
    assert ChatTexts("en").said(error.notice) == error.notice


@pytest.mark.parametrize("fault", get_args(ModelFault))
def test_what_a_model_provider_refuses_is_said_in_german_with_what_to_mend_and_its_own_words(fault):
    notice = notice_for(fault, model="m-9", key_variable="A_KEY", words="slow down", status=429)
    said = ChatTexts("de").said(ModelError("m", fault=fault, notice=notice).notice)

    assert said.endswith("Er sagte: „slow down“.")
    assert said.split(" Er sagte")[0] not in str(notice)
    assert [one for one in ("m-9", "A_KEY") if one in notice] == [one for one in ("m-9", "A_KEY") if one in said]


REASONS = re.compile(
    r"""(?:SourceError\([\w.\[\]]+, |reason = |^[A-Z_]+ = |Said\(\s*|^\s+(?="some))\(?\s*f?"((?:it|its|there|the|only|robots|some|copy)[^"]+)""",
    re.MULTILINE,
)


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_why_a_document_was_not_used_is_said_in_the_language_of_the_screen(language):
    """Every reason that the readers, the searchers and the sweep give: none has to be left out, or stays English."""
    rooms = ("web", "search", "research/reading", "contracts")
    files = [path for room in rooms for path in Path("agents", room).glob("*.py")]
    given = {found for path in files for found in REASONS.findall(path.read_text("utf-8"))}
    # "it is {kind}, not a text" has its phrases one by one; a package that is missing is no document.
    missing = {
        one
        for one in given
        if one not in wording(language).reasons and not one.startswith("it is {") and "`" not in one
    }
    assert len(given) > 60
    assert missing == set()


def test_a_reason_keeps_its_values_through_a_store_and_is_said_with_them():
    refused = RejectedSource(
        url="https://a.example",
        reason=Said(SAME_ATTEMPT, why=Said("{why} ({code})", why="there is no such page", code=404)),
    )
    stored = RejectedSource.model_validate_json(refused.model_dump_json())

    assert stored == refused
    assert stored.reason == "there is no such page (404) (tried once for several branches)"
    assert wording("de").reason(stored.why) == "die Seite gibt es nicht (404) (einmal für mehrere Teile versucht)"
    assert RejectedSource(url="x", reason="nobody translated this {one}").why == "nobody translated this {one}"


@pytest.mark.parametrize(
    ("language", "one", "many"),
    [
        (
            "en",
            "1 statement was put right from its source, 0 were",
            "2 statements were put right from their sources, 1 was",
        ),
        ("de", "1 Aussage wurde aus ihrer Quelle berichtigt", "2 Aussagen wurden aus ihren Quellen berichtigt"),
        ("fr", "1 énoncé a été corrigé d’après sa source, 0 supprimé.", "2 énoncés ont été corrigés"),
        (
            "es",
            "1 enunciado se corrigió según su fuente",
            "2 enunciados se corrigieron según sus fuentes, 1 se eliminó",
        ),
    ],
)
def test_one_is_one_and_more_are_more(language, one, many):
    assert wording(language).ledger.mended.format(n=1, m=0).startswith(one)
    assert wording(language).ledger.mended.format(n=2, m=1).startswith(many)


def test_every_text_with_a_form_for_a_number_names_its_value():
    """A form that `{n:one|more}` chooses needs the value, in every file of every language."""
    for file in [*Path("agents").rglob("locales/*.toml"), Path("public/words.js")]:
        for form in re.findall(r"\{(\w+):[^{}|]*\|[^{}]*\}", file.read_text("utf-8")):
            assert form in {"n", "m", "of", "facts", "sources", "all", "count", "answers"}, (file, form)


async def test_a_german_talk_is_refused_in_german(talker):
    await talker("Wie oft war die Orvane-Fähre geschlossen, und was hat das gekostet?")
    (said,) = await talker("streiche Frage 7")

    assert said.text == "Es gibt keine Frage 7; der Entwurf hat 1. Nichts wurde geändert."
