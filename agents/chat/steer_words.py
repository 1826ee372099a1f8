"""Short words that steer a run, and how a question about its progress is recognised."""

import re
from typing import Literal

Steer = Literal["stop", "finish"]

_STOP = frozenset(
    {
        "stop", "stop it", "stop now", "stop the run", "cancel", "cancel it", "cancel the run", "abort",
        "stopp", "stoppen", "abbrechen", "anhalten", "halt",
        "arrête", "arrêter", "arrete", "annuler", "stoppe",
        "para", "parar", "detener", "cancelar", "alto",
    }
)  # fmt: skip
_FINISH = frozenset(
    {
        "finish", "finish now", "finish it", "finish early", "write now", "write it now", "wrap up", "wrap it up",
        "jetzt schreiben", "schreib jetzt", "abschließen", "jetzt abschließen", "fertig machen",
        "termine", "terminer", "finis maintenant", "écris maintenant", "conclure",
        "termina", "terminar", "escribe ya", "escribe ahora", "concluir",
    }
)  # fmt: skip
_PROGRESS = re.compile(
    r"\b(how('s| is| are)? (it|things|that|the run|the research)|how far|how long|how much|status|progress|"
    r"still running|when (will|are|is)|"
    r"are you (done|there|finished)|what are you doing|where are you|"
    r"wie läuft|wie laeuft|wie weit|wie lange|wie steht|fortschritt|stand der dinge|zwischenstand|"
    r"où en|ou en es|ça avance|ca avance|avancement|progrès|combien de temps|"
    r"cómo va|como va|cuánto falta|cuanto falta|progreso|avance|estado)\b",
    re.IGNORECASE,
)
_ENDS_AS_QUESTION = re.compile(r"[?？؟]\s*[\"'”’»]?\s*$")


def steering(message: str) -> Steer | None:
    """Read a short exact command; a longer sentence that holds the word is none."""
    words = " ".join(message.casefold().split()).strip(" .!")
    if words in _STOP:
        return "stop"
    return "finish" if words in _FINISH else None


def asks_for_progress(message: str) -> bool:
    """Tell whether a message sent during a run asks how it is going."""
    return bool(_ENDS_AS_QUESTION.search(message) or _PROGRESS.search(message))


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def minutes_and_seconds(seconds: float) -> str:
    """Write a duration as a clock shows it: `7:04`."""
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02d}"


def money(cost_usd: float | None) -> str:
    """Write what was spent; unknown is not zero."""
    if cost_usd is None:
        return "cost not known"
    return "nothing spent" if cost_usd == 0 else f"${cost_usd:.2f} spent"
