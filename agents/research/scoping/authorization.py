"""The authorization gate: which words start the work, and which only look like them.

The `/research` command, and the time budget wherever it is given.
"""

import re
import shlex
import unicodedata

from agents.contracts.frozen import Frozen, Mode
from agents.core.errors import BadRequest

PHRASE = "Authorized to execute"
"""What the user types (specification, section 3)."""

_QUOTES = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f"
_EXACT = re.compile(rf"[\s{_QUOTES}]*(?ai:authori[sz]ed to execute)[\s{_QUOTES}]*(?:[.!][\s{_QUOTES}]*)?")
"""Both spellings count, in any case of plain letters; nothing else does."""
_LOOKALIKES = str.maketrans("аеіоруАЕІОРТХсхԁһοαιεуοτυ", "aeiopyAEIOPTXcxdhoaieyotu")
_CONTAINS = re.compile(r"authori[sz]ed?\W+to\W+execute", re.IGNORECASE)


def authorizes(message: str) -> bool:
    """Tell whether `message` is the phrase.

    Case, surrounding white space, quotes and one closing `.` or `!` are ignored. A message that merely contains it,
    negates it or asks about it is not; neither are look-alike letters of other scripts.
    """
    return bool(_EXACT.fullmatch(message))


def looks_like_the_phrase(message: str) -> bool:
    """Tell whether `message` holds the phrase or something that reads like it, without being it."""
    plain = unicodedata.normalize("NFKC", message)
    return not authorizes(message) and bool(_CONTAINS.search(plain) or _CONTAINS.search(plain.translate(_LOOKALIKES)))


MAX_MINUTES = 1440.0
_NUMBER = re.compile(r"[0-9]+([.,][0-9]+)?")

TIME_RULE = "--time takes minutes, more than 0 and at most 1440, fractions allowed (`--time 2.5`), or `unlimited`."


class ResearchCommand(Frozen):
    """What `/research` was given."""

    question: str
    """Empty when there was none."""
    mode: Mode | None = None
    minutes: float | None = None
    """None with `unlimited`; meaningful only when `time_given`."""
    time_given: bool = False


def minutes_of(text: str) -> float | None:
    """Read a time budget: minutes, or None for `unlimited`.

    Raises:
        BadRequest: anything else, in one sentence that names the rule.
    """
    word = text.strip().casefold()
    if word == "unlimited":
        return None
    if _NUMBER.fullmatch(word):
        minutes = float(word.replace(",", "."))
        if 0 < minutes <= MAX_MINUTES:
            return minutes
    raise BadRequest("{given!r} is no time budget: " + TIME_RULE, given=text.strip() or "Nothing")


_VALUE = r"(?P<value>=\S*|(?<=--time)\s+\S+)?"
_FIRST = re.compile(rf"(?P<name>--[^\s=]*){_VALUE}\s*")
_LAST = re.compile(rf"\s+(?P<name>--(?:deep|quick|time)){_VALUE}$")
"""An option as it may stand at either end of a question."""


def parse_research(text: str) -> ResearchCommand:
    """Read what stands behind `/research` (the command itself may stand there or not).

    Options are taken off the front and, as an afterthought, off the end; the rest is the question, word for word.

    Raises:
        BadRequest: an unknown option, `--quick`, or a wrong time; the message says what to write instead.
    """
    question, given = " ".join(re.sub(r"^\s*/research\b", "", text).split()), dict[str, str]()
    while found := _FIRST.match(question) or _LAST.search(question):
        given[found["name"]] = (found["value"] or "").lstrip("= ")
        question = question[: found.start()] + question[found.end() :]
    if "--quick" in given:
        raise BadRequest("There is no --quick: a small question gets a small plan by itself. Leave the option out.")
    if (unknown := given.keys() - {"--deep", "--time"}) or given.get("--deep") or given.get("--time") == "":
        raise BadRequest(
            "I can't read that command: {problem}. Use `/research [--deep] [--time N|unlimited] question`.",
            problem=f"there is no {min(unknown)}" if unknown else "an option lacks its value, or takes none",
        )
    time = given.get("--time")
    try:
        quoted = shlex.split(question)
    except ValueError:
        quoted = []
    return ResearchCommand(
        question=quoted[0] if len(quoted) == 1 and question[:1] in "\"'" else question,
        mode="deep" if "--deep" in given else None,
        minutes=None if time is None else minutes_of(time),
        time_given=time is not None,
    )
