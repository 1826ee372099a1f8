"""Scouting without a language model: who speaks, by cues of address, title and wording; what about, by shared words."""

from collections import Counter
from collections.abc import Mapping

from agents.contracts.shortlist import Authority, CandidateView, Judged, ScoutInput, ScoutJudgement
from agents.nlp.tokens import content_words
from agents.offline.cues import union
from agents.offline.shape import is_order

ANSWERS = 0.5
"""Share of a question's words that title, themes and excerpt must hold."""

_PRIMARY = union(
    (
        r"we (?:measured|counted|surveyed|sampled|found|interviewed|analy[sz]ed|report)|our (?:data|results|survey|study)|"
        r"census|audit\w*|statistics|minutes|judg(?:e)?ment|act of|regulation|directive|data (?:note|set)|dataset|"
        r"monitoring report|annual report|field (?:trial|study)|technical (?:note|report)|working paper|survey of|"
        r"standard error|confidence interval|p\s?[<=]\s?0",
        r"erhebung|messung(?:en)?|statistik|protokoll|prüfbericht|urteil|gesetz|verordnung|jahresbericht|gemessen|befragt",
        r"recensement|statistiques?|procès-verbal|arrêté|décret|loi|rapport (?:annuel|d'audit)|mesuré\w*|enquête",
        r"censo|estadísticas?|actas?|sentencia|ley|decreto|informe anual|auditoría|medid[oa]s?|encuesta",
        "調査|統計|議事録|法律|判決|测量|统计|调查|法规|تعداد|إحصاء",
    )
)
_SECONDARY = union(
    (
        r"according to|told (?:the|us)|said|reporter|correspondent|news|newspaper|weekly|courier|review|encyclop\w+|wiki\w*",
        r"laut|zufolge|sagte|zeitung|nachrichten|selon|d'après|journal|actualités|según|dijo|periódico|noticias",
        "新聞|によると|报道|据|صحيفة|وفقا",
    )
)
_INTERESTED = union(
    (
        r"buy|shop|order now|discount|our (?:products?|services?|customers?|clients?)|sponsored|investors?|book (?:now|a)|"
        r"sign up|consultancy|petition|donate",
        r"kaufen|rabatt|unsere (?:produkte|kunden)|jetzt bestellen|acheter|nos (?:produits|clients)|comprar|"
        r"nuestros (?:productos|clientes)",
    )
)
_TERTIARY = union(
    (r"top \d+|\d+ (?:facts|things|reasons)|all you need to know|listicle|ultimate guide|faq|best \w+ \d{4}",)
)
_OFFICIAL = (".gov", ".mil", ".int", ".edu", ".gob", ".gouv", ".ac")

_PERSPECTIVES: Mapping[str, Mapping[Authority, str]] = {
    "en": {"primary": "at first hand", "secondary": "as reported", "tertiary": "retold", "interested": "of a party"},
    "de": {
        "primary": "aus erster Hand",
        "secondary": "wie berichtet",
        "tertiary": "nacherzählt",
        "interested": "einer Partei",
    },
    "fr": {
        "primary": "de première main",
        "secondary": "rapporté",
        "tertiary": "de seconde main",
        "interested": "d'une partie",
    },
    "es": {
        "primary": "de primera mano",
        "secondary": "según terceros",
        "tertiary": "de segunda mano",
        "interested": "de una parte",
    },
}
_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "answers": "Its sentences hold the words of {n} of the {of} questions",
        "none": "Its sentences hold the words of none of the questions",
        "dated": "dated {date}",
        "undated": "without a date",
    },
    "de": {
        "answers": "Seine Sätze enthalten die Wörter von {n} der {of} Fragen",
        "none": "Seine Sätze enthalten die Wörter keiner der Fragen",
        "dated": "vom {date}",
        "undated": "ohne Datum",
    },
    "fr": {
        "answers": "Ses phrases contiennent les mots de {n} des {of} questions",
        "none": "Ses phrases ne contiennent les mots d'aucune des questions",
        "dated": "daté du {date}",
        "undated": "sans date",
    },
    "es": {
        "answers": "Sus frases contienen las palabras de {n} de las {of} preguntas",
        "none": "Sus frases no contienen las palabras de ninguna de las preguntas",
        "dated": "con fecha {date}",
        "undated": "sin fecha",
    },
}


def scout(given: ScoutInput) -> ScoutJudgement:
    """Judge the candidates by what is shown of them; meaning is beyond it, words are not."""
    spread = Counter(theme.casefold() for candidate in given.candidates for theme in candidate.themes)
    return ScoutJudgement(candidates=tuple(_judged(candidate, given, spread) for candidate in given.candidates))


def _judged(candidate: CandidateView, given: ScoutInput, spread: Counter[str]) -> Judged:
    authority = _authority(candidate)
    answers = _answers(candidate, given.questions)
    # A theme that others share makes a group; one of its own makes a group of one.
    shared = [theme for theme in candidate.themes if 1 < spread[theme.casefold()] < len(given.candidates)]
    language = given.language.split("-")[0]
    words = _WORDS.get(language, _WORDS["en"])
    found = words["answers"].format(n=len(answers), of=len(given.questions)) if answers else words["none"]
    date = words["dated"].format(date=candidate.published) if candidate.published else words["undated"]
    return Judged(
        number=candidate.number,
        authority=authority,
        theme=(shared or list(candidate.themes) or [given.objective])[0],
        perspective=_PERSPECTIVES.get(language, _PERSPECTIVES["en"]).get(authority, ""),
        answers=answers,
        rationale=f"{found}; {date}.",
    )


def _authority(candidate: CandidateView) -> Authority:
    said = f"{candidate.title}. {candidate.excerpt}"
    if any(is_order(sentence) for sentence in candidate.excerpt.split(" … ")):
        return "unknown"  # a document that gives orders to its reader is not taken at its word
    host = candidate.domain.casefold()
    official = any(f"{suffix}." in f"{host}." for suffix in _OFFICIAL)
    if _TERTIARY.search(candidate.title):
        return "tertiary"
    if official or (_PRIMARY.search(said) and not _INTERESTED.search(said)):
        return "primary"
    if _INTERESTED.search(said):
        return "interested"
    return "secondary" if _SECONDARY.search(f"{said} {candidate.domain} {candidate.author or ''}") else "unknown"


def _answers(candidate: CandidateView, questions: tuple[str, ...]) -> tuple[int, ...]:
    held = frozenset(content_words(f"{candidate.title} {' '.join(candidate.themes)} {candidate.excerpt}"))
    found = []
    for number, question in enumerate(questions, start=1):
        wanted = frozenset(content_words(question))
        if wanted and len(wanted & held) >= ANSWERS * len(wanted):
            found.append(number)
    return tuple(found)
