"""Closed lists: what reference sections are called, and which sentences state no fact."""

import re
from functools import lru_cache

_REFERENCE_NAMES = frozenset({
    "references", "reference", "reference list", "sources", "sources cited", "source list", "bibliography",
    "works cited", "citations", "footnotes", "cited sources", "links", "quellen", "quellenverzeichnis",
    "quellenangaben", "literatur", "literaturverzeichnis", "referenzen", "belege", "einzelnachweise",
    "références", "bibliographie", "sources citées", "notes et références", "referencias", "bibliografía",
    "fuentes", "fuentes citadas", "fonti", "riferimenti", "bibliografia", "referências", "fontes", "bronnen",
    "literatuurlijst", "referenties", "källor", "referenser", "källförteckning",
    "参考文献", "引用文献", "出典", "参考资料",
    "来源", "المراجع", "المصادر",
})  # fmt: skip
_MARKING = re.compile(r"^[\s#*_>]+|[\s#*_:：]+$")


def is_reference_heading(line: str) -> bool:
    """Tell whether a line is nothing but the name of a reference list, as heading, bold or plain."""
    text = _MARKING.sub("", _MARKING.sub("", line)).casefold()
    return re.sub(r"^\d+[.)]\s*", "", text) in _REFERENCE_NAMES


# ---- sentences that state no fact: transitions, and statements about the research itself

_TAIL = r"(?: [^,;:\d]{1,80})?"
"""What may follow a statement about the sources: a few words, no figure, no further clause."""

_EXEMPT: dict[str, tuple[str, ...]] = {
    "en": (
        r"(?:one|two|three|four|five|six|seven|several|both|all|most|many|few|no|none of the|only one|the|these|\d+)"
        r"(?: \w+)? (?:sources?|documents?|studies|reports?)(?: \w+)? (?:dis)?agrees?(?: (?:on|about|with)"
        + _TAIL
        + ")?",
        r"(?:the|these|none of the|no|most|\d+)(?: \w+)? (?:sources?|documents?)(?: read| found)?"
        r" (?:do not|does not|did not|don't|doesn't) (?:say|tell|answer|mention|cover)" + _TAIL,
        r"(?:nothing|no source|no document)(?: \w+)? was found(?: (?:on|about|for)" + _TAIL + ")?",
        r"search capabilities were limited\b.{0,80}",
        r"in short|taken together|by comparison|in contrast|the picture is mixed",
    ),
    "de": (
        r"(?:eine|zwei|drei|vier|fünf|sechs|sieben|mehrere|beide|alle|viele|wenige|keine|nur eine|die|diese|\d+)"
        r"(?: \w+)? (?:quellen?|dokumente?|studien?|berichte?) (?:stimmen? (?:darin |hierin |hier )?überein"
        r"|sind sich (?:darin |hierin |hier )?(?:un)?einig|widersprechen (?:sich|einander))",
        r"(?:die|diese|keine|keine der)(?: \w+)? (?:quellen?|dokumente?) (?:sagen?|nennen?|beantworten?)"
        r"(?: (?:das|dies|dazu|darüber|hierzu))?(?: (?:nicht|nichts))?" + _TAIL,
        r"(?:hierzu|dazu) wurde nichts(?: \w+)? gefunden|nichts(?: \w+)? wurde gefunden",
        r"kurz gesagt|zusammengenommen|im vergleich|das bild ist gemischt",
    ),
    "fr": (
        r"(?:une|deux|trois|quatre|cinq|six|sept|plusieurs|les deux|toutes les|aucune|les|ces|\d+)"
        r" (?:sources?|documents?|études?|rapports?)(?: \w+)? (?:sont d'accord|s'accordent|concordent|divergent)"
        + _TAIL,
        r"(?:les|ces|aucune des) (?:sources?|documents?)(?: \w+)? ne(?: le)?"
        r" (?:dit|disent|répond|répondent|mentionnent)(?: pas)?" + _TAIL,
        r"(?:rien|aucune source|aucune réponse) n'a été trouvée?" + _TAIL,
        r"en bref|dans l'ensemble|en comparaison|le tableau est contrasté",
    ),
    "es": (
        r"(?:una|dos|tres|cuatro|cinco|seis|siete|varias|ambas|todas las|ninguna|las|estas|\d+)"
        r" (?:fuentes?|documentos?|estudios?|informes?)(?: \w+)? (?:coinciden?|están de acuerdo|discrepan?)" + _TAIL,
        r"(?:las|estas|los|ninguna de las) (?:fuentes?|documentos?)(?: \w+)? no(?: lo)?"
        r" (?:dicen?|responden?|mencionan?)" + _TAIL,
        r"no se (?:encontró|ha encontrado) nada" + _TAIL,
        r"en resumen|en conjunto|en comparación|el panorama es mixto",
    ),
}
_MAX_TRANSITION = 120  # a longer sentence that ends with a colon states something by itself
_FIGURE = re.compile(r"\d")


def states_no_fact(sentence: str, language: str) -> bool:
    """Tell whether the closed list exempts a sentence from carrying a citation.

    English patterns hold beside those of the report's own language, since models fall back to English. A sentence with
    a figure is never exempt as a transition.
    """
    text = " ".join(sentence.replace("’", "'").strip(" *_").split())
    if not any(letter.isalnum() for letter in text):
        return True
    if text.endswith((":", "：")) and len(text) <= _MAX_TRANSITION and not _FIGURE.search(text):
        return True
    text = text.rstrip(".:!… ")
    return any(pattern.fullmatch(text) for pattern in _patterns(language.casefold().split("-")[0]))


@lru_cache(maxsize=16)
def _patterns(base: str) -> tuple[re.Pattern[str], ...]:
    own = _EXEMPT.get(base, ()) if base != "en" else ()
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*own, *_EXEMPT["en"]))
