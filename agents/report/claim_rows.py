"""Claims, gates and sentence checks as the reader meets them."""

from collections.abc import Iterable, Mapping

from agents.contracts.claim import Claim, Evidence
from agents.contracts.source import SourceCard
from agents.contracts.verification import SentenceCheck, Truth
from agents.report.blocks import Block, Paragraph, Table
from agents.report.escaping import escape_text
from agents.report.texts import base_language

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "claim": "Claim", "verdict": "Verdict", "sure": "Confidence", "for": "For", "against": "Against",
        "counter": "Counter-search",
        "supported": "supported", "qualified": "qualified", "contested": "contested", "refuted": "refuted",
        "insufficient": "insufficient evidence", "not_checked": "not checked",
        "none": "searched, none found", "found": "searched, {n} found", "no": "not searched",
        "unchecked": "{n} of {m} claims were not checked.", "unverified": "{n} statements could not be verified.",
        "one_unverified": "1 statement could not be verified.",
        "confidence": "The confidence of this report is {value} of 100.",
        "sentences": "{n} of {m} statements were verified against the words they cite (ratio {ratio}).",
        "mended": "{n} statements were put right from their sources, {m} were struck.",
    },
    "de": {
        "claim": "Behauptung", "verdict": "Urteil", "sure": "Sicherheit", "for": "Dafür", "against": "Dagegen",
        "counter": "Gegensuche",
        "supported": "gestützt", "qualified": "eingeschränkt", "contested": "umstritten", "refuted": "widerlegt",
        "insufficient": "zu wenig Belege", "not_checked": "nicht geprüft",
        "none": "gesucht, nichts gefunden", "found": "gesucht, {n} gefunden", "no": "nicht gesucht",
        "unchecked": "{n} von {m} Behauptungen wurden nicht geprüft.",
        "unverified": "{n} Aussagen ließen sich nicht bestätigen.",
        "one_unverified": "1 Aussage ließ sich nicht bestätigen.",
        "confidence": "Die Sicherheit dieses Berichts beträgt {value} von 100.",
        "sentences": "{n} von {m} Aussagen wurden an den zitierten Worten bestätigt (Anteil {ratio}).",
        "mended": "{n} Aussagen wurden aus ihren Quellen berichtigt, {m} gestrichen.",
    },
    "fr": {
        "claim": "Affirmation", "verdict": "Verdict", "sure": "Confiance", "for": "Pour", "against": "Contre",
        "counter": "Recherche contraire",
        "supported": "étayée", "qualified": "nuancée", "contested": "contestée", "refuted": "réfutée",
        "insufficient": "preuves insuffisantes", "not_checked": "non vérifiée",
        "none": "cherché, rien trouvé", "found": "cherché, {n} trouvés", "no": "non cherché",
        "unchecked": "{n} affirmations sur {m} n’ont pas été vérifiées.",
        "unverified": "{n} énoncés n’ont pas pu être vérifiés.", "one_unverified": "1 énoncé n’a pas pu être vérifié.",
        "confidence": "La confiance de ce rapport est de {value} sur 100.",
        "sentences": "{n} énoncés sur {m} ont été vérifiés dans les mots cités (part {ratio}).",
        "mended": "{n} énoncés ont été corrigés d’après leurs sources, {m} supprimés.",
    },
    "es": {
        "claim": "Afirmación", "verdict": "Veredicto", "sure": "Confianza", "for": "A favor", "against": "En contra",
        "counter": "Búsqueda contraria",
        "supported": "respaldada", "qualified": "matizada", "contested": "discutida", "refuted": "refutada",
        "insufficient": "pruebas insuficientes", "not_checked": "no comprobada",
        "none": "buscado, nada hallado", "found": "buscado, {n} hallados", "no": "no buscado",
        "unchecked": "{n} de {m} afirmaciones no se comprobaron.",
        "unverified": "{n} enunciados no se pudieron verificar.", "one_unverified": "1 enunciado no se pudo verificar.",
        "confidence": "La confianza de este informe es de {value} sobre 100.",
        "sentences": "{n} de {m} enunciados se verificaron en las palabras citadas (proporción {ratio}).",
        "mended": "{n} enunciados se corrigieron según sus fuentes, {m} se eliminaron.",
    },
}  # fmt: skip


def claim_words(language: str) -> Mapping[str, str]:
    """Give the words of this page in a language; English where there are none."""
    return _WORDS.get(base_language(language), _WORDS["en"])


def claims_table(claims: Iterable[Claim], cards: Mapping[str, SourceCard], language: str) -> Table:
    """Put the ledger into a table: statement, verdict, confidence, who speaks for and against, the counter-search."""
    words = claim_words(language)
    head = tuple(words[key] for key in ("claim", "verdict", "sure", "for", "against", "counter"))
    rows = []
    for claim in claims:
        against = [one for one in claim.evidence if one.stance in {"contradicts", "qualifies"}]
        pro = [one for one in claim.evidence if one.stance == "supports"]
        counter = claim.counter_search
        searched = words["no"] if not counter.queries else words["found"] if counter.found else words["none"]
        rows.append(
            (
                escape_text(claim.text),
                words[claim.verdict],
                "–" if claim.confidence is None else f"{claim.confidence:.2f}",
                _who(pro, cards),
                _who(against, cards),
                searched.format(n=counter.found),
            )
        )
    return Table(head, ("", "", "right", "", "", ""), tuple(rows))


def _who(evidence: list[Evidence], cards: Mapping[str, SourceCard]) -> str:
    if not evidence:
        return "–"
    names = dict.fromkeys(
        (cards[one.source_id].site or cards[one.source_id].title) if one.source_id in cards else one.domain
        for one in evidence
    )
    shown = ", ".join(escape_text(name) for name in list(names)[:3])
    return f"{len(evidence)}: {shown}" + (" …" if len(names) > 3 else "")


def unverified(truth: Truth) -> tuple[SentenceCheck, ...]:
    """List the sentences that stand in the report although nothing carries them."""
    return tuple(
        check
        for check in truth.checks
        if check.verdict in {"unsupported", "contradicted"} and check.replaced_by is None
    )


def truth_reasons(truth: Truth, language: str) -> tuple[str, ...]:
    """Say what keeps a report from being complete: claims nobody checked, sentences nothing carries, failed gates."""
    words = claim_words(language)
    found = []
    open_ = sum(1 for claim in truth.claims if claim.verdict == "not_checked")
    if open_:
        found.append(words["unchecked"].format(n=open_, m=len(truth.claims)))
    if short := len(unverified(truth)):
        found.append(words["one_unverified"] if short == 1 else words["unverified"].format(n=short))
    return tuple(found)


def truth_lines(truth: Truth, language: str) -> tuple[Block, ...]:
    """Say in Methodology what was checked and what came of it; empty when nothing was."""
    words = claim_words(language)
    stating = [check for check in truth.checks if check.replaced_by != ""]
    if not stating:
        return ()
    good = sum(1 for check in stating if check.verdict == "supported")
    ratio = "–" if truth.verifiable_ratio is None else f"{truth.verifiable_ratio:.2f}"
    said = [words["sentences"].format(n=good, m=len(stating), ratio=ratio)]
    mended = sum(1 for check in truth.checks if check.replaced_by)
    struck = sum(1 for check in truth.checks if check.replaced_by == "")
    if mended or struck:
        said.append(words["mended"].format(n=mended, m=struck))
    if truth.confidence is not None:
        said.append(words["confidence"].format(value=f"{truth.confidence:.0f}"))
    return (Paragraph((" ".join(said),)),)
