"""The engine's own sentences. They are no prompts. English, German, French and Spanish; else English."""

import re
from collections.abc import Mapping

from agents.offline.wording_de import GERMAN
from agents.offline.wording_en import ENGLISH
from agents.offline.wording_es import SPANISH
from agents.offline.wording_fr import FRENCH

_WORDING: Mapping[str, Mapping[str, str]] = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}

FACETS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "origins",
        "present state",
        "causes",
        "effects",
        "costs",
        "people involved",
        "law and rules",
        "methods",
        "results",
        "disputes",
        "risks",
        "comparison with others",
        "measures taken",
        "outlook",
    ),
    "de": (
        "Ursprünge",
        "heutiger Stand",
        "Ursachen",
        "Wirkungen",
        "Kosten",
        "Beteiligte",
        "Recht und Regeln",
        "Verfahren",
        "Ergebnisse",
        "Streitpunkte",
        "Risiken",
        "Vergleich mit anderen",
        "Maßnahmen",
        "Ausblick",
    ),
    "fr": (
        "origines",
        "état actuel",
        "causes",
        "effets",
        "coûts",
        "acteurs",
        "droit et règles",
        "méthodes",
        "résultats",
        "controverses",
        "risques",
        "comparaison avec d'autres",
        "mesures prises",
        "perspectives",
    ),
    "es": (
        "orígenes",
        "situación actual",
        "causas",
        "efectos",
        "costes",
        "participantes",
        "leyes y reglas",
        "métodos",
        "resultados",
        "disputas",
        "riesgos",
        "comparación con otros",
        "medidas tomadas",
        "perspectivas",
    ),
}
"""What an open question fans out over where the documents name fewer themes."""

ASKABLE: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("Costs", "suggest_why"),
        ("Measured results", "suggest_period"),
        ("Causes", "suggest_known"),
        ("Rules and measures", "suggest_measure"),
    ),
    "de": (
        ("Kosten", "suggest_why"),
        ("Gemessene Ergebnisse", "suggest_period"),
        ("Ursachen", "suggest_known"),
        ("Regeln und Maßnahmen", "suggest_measure"),
    ),
    "fr": (
        ("Coûts", "suggest_why"),
        ("Résultats mesurés", "suggest_period"),
        ("Causes", "suggest_known"),
        ("Règles et mesures", "suggest_measure"),
    ),
    "es": (
        ("Costes", "suggest_why"),
        ("Resultados medidos", "suggest_period"),
        ("Causas", "suggest_known"),
        ("Reglas y medidas", "suggest_measure"),
    ),
}
"""Themes for narrower questions where the documents name none, each with the question that fits it."""

ANYTHING: Mapping[str, str] = {
    "en": "what belongs to it",
    "de": "allem Zugehörigen",
    "fr": "ce qui s'y rattache",
    "es": "lo que le corresponde",
}
"""Stands for a subject that cannot be told."""

PERIODS = ("past", "present", "future")
PLACES = ("first region", "second region", "third region", "further regions")

_AND = {"en": "and", "de": "und", "fr": "et", "es": "y"}
_LEVEL = {"en": ("level", "levels"), "de": ("Ebene", "Ebenen"), "fr": ("niveau", "niveaux"), "es": ("nivel", "niveles")}
_DASH = re.compile(r"[-_].*")


def tongue(language: str) -> str:
    """Choose the language of the wording for a BCP 47 tag: English where there are no templates."""
    short = _DASH.sub("", language.casefold())
    return short if short in _WORDING else "en"


def say(language: str, name: str, **values: object) -> str:
    """Fill the sentence `name` in the wording of `language`."""
    return _WORDING[tongue(language)][name].format(**values)


def level_word(language: str, count: int) -> str:
    """`level` or `levels`."""
    return _LEVEL[tongue(language)][count != 1]


def listed(language: str, entries: tuple[str, ...]) -> str:
    """Join entries as a sentence does: `a, b and c`."""
    if len(entries) < 2:
        return "".join(entries)
    return f"{', '.join(entries[:-1])} {_AND[tongue(language)]} {entries[-1]}"


def quoted(language: str, text: str) -> str:
    """Set `text` in the quotation marks of a language."""
    left, right = {"de": ("„", "“"), "fr": ("« ", " »"), "es": ("«", "»")}.get(tongue(language), ("“", "”"))
    return f"{left}{text}{right}"
