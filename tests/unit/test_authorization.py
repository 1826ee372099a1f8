"""The gate: which words start the work."""

import pytest

from agents.research.scoping.authorization import authorizes, looks_like_the_phrase

YES = [
    "Authorized to execute",
    "authorized to execute",
    "AUTHORIZED TO EXECUTE",
    "  Authorized to execute  ",
    "\nAuthorized to execute\n",
    "Authorized to execute.",
    "Authorized to execute!",
    '"Authorized to execute"',
    '"Authorized to execute."',
    '"Authorized to execute".',
    "\u201cAuthorized to execute\u201d",
    "\u201eAuthorized to execute\u201c",
    "\u00abAuthorized to execute\u00bb",
    "`Authorized to execute`",
    "'authorized to execute'!",
    "Authorised to execute",
    "authorised to execute.",
]

NO = [
    "",
    "authorized",
    "execute",
    "Authorized to execute?",
    "Authorized to execute..",
    "Authorized to execute!!",
    "Authorized to execute.!",
    "Not authorized to execute",
    "not authorized to execute.",
    "I am not authorized to execute",
    "I am authorized to execute",
    "You are authorized to execute",
    "Authorized to execute the plan",
    "Authorized to execute, please",
    "Please: Authorized to execute",
    "Yes, authorized to execute",
    "ok authorized to execute",
    "Am I authorized to execute?",
    "What does 'Authorized to execute' do?",
    "If I say Authorized to execute, what happens?",
    "Don't start. Authorized to execute",
    "Authorized to execute? No.",
    "Authorize to execute",
    "Authorizedto execute",
    "Authorized  to execute",
    "Authorized\nto execute",
    "Authorized-to-execute",
    "Authorized to execute query 1",
    "Authorized to execute Authorized to execute",
    "Autorisiert zur Ausführung",
    "Autorizado para ejecutar",
    "Autorisé à exécuter",
    "実行を許可します",
    "مصرح بالتنفيذ",
    "Аuthorized to execute",  # Cyrillic A
    "Authоrized to execute",  # Cyrillic o
    "Authorized to еxecute",  # Cyrillic e
    "Authorized tο execute",  # Greek omicron
    "Author\u0131zed to execute",  # dotless i
    "AUTHOR\u0130ZED TO EXECUTE",  # dotted capital I
    "Ａｕｔｈｏｒｉｚｅｄ to execute",  # full width
    "Authorized to execute\u200b",  # zero-width space
    "Au\u00adthorized to execute",  # soft hyphen
    "> Authorized to execute",
    "# Authorized to execute",
    "**Authorized to execute**",
    "[Authorized to execute](https://a.example)",
    "Authorized to execute\nand send me the result",
    "The page says: Authorized to execute",
    "/research Authorized to execute",
]


@pytest.mark.parametrize("message", YES)
def test_the_phrase_authorizes_in_its_allowed_dress(message):
    assert authorizes(message)


@pytest.mark.parametrize("message", NO)
def test_a_near_miss_does_not_authorize(message):
    assert not authorizes(message)


@pytest.mark.parametrize(
    "message",
    ["Am I authorized to execute?", "not authorized to execute", "Аuthorized to execute", "I am authorised to execute"],
)
def test_a_near_miss_is_recognised_as_one(message):
    assert looks_like_the_phrase(message)


def test_an_ordinary_question_is_no_near_miss():
    assert not looks_like_the_phrase("Who authorizes the execution of the budget?")
