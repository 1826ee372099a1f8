"""How well a sentence answers a question: shared words weighed by rarity, and the form of answer wanted."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agents.offline import cues
from agents.offline.cues import union
from agents.offline.figure_rows import has_figure, span_of_years
from agents.offline.question_parts import leans_on, period
from agents.offline.shape import is_heading, is_label
from agents.offline.terms import date_terms, distinct, names, terms, years

_CAUSES = union(
    (
        r"because|since (?!\w+ \d|\d)|due to|caus(?:e|es|ed)|led to|result(?:s|ed)? (?:in|from)|therefore|"
        r"explain(?:s|ed)?|reasons?|so that|as a result|owing to|"
        r"driven by|comes? from|came from|depends? on|blames?d?|thanks to|drove|hinder(?:s|ed)?|the main (?:cause|"
        r"problem)",
        r"weil|wegen|aufgrund|ursachen?|deshalb|daher|führte zu|da |parce que|car|en raison|causes?|à cause|porque|"
        r"debido a|causas?|por eso",
        "から|ため|ので|原因|理由|因为|由于|导致|لأن|بسبب",
    )
)
_SCOPES = union(
    (
        r"exclud\w+|left out|leav(?:es?|ing) out|includ\w+|counted|differs?|differed|different\w*|differences?|"
        r"instead of|between two|baseline|subtract\w*|"
        r"denominator|divid\w+|definition|defined|caveat|not affected|do(?:es)? not appear|are (?:not )?counted|"
        r"set to zero|comes? from|asked only|far below|"
        r"contradiction|lower than|higher than|rather than|must not be|cannot be compared|not priced|without "
        r"(?:monitoring|saying)|did not (?:add|count|include)",
        r"ausgelassen|eingerechnet|ohne|mitgezählt|unterschied\w*|weicht|weichen|statt|exclu\w+|inclu\w+|sans|"
        r"différ\w+|excluy\w+|incluy\w+|sin|difer\w+",
        "除く|含む|異な|不同|包括|排除|يختلف|يشمل",
    )
)
_MONEY = union(
    (
        r"costs?|prices?|paid|pays?|spent|spend\w*|spending|expens\w+|subsid\w+|fares?|fees?|budget|funding|"
        r"grants?|EUR|USD|GBP|CHF|dollars?|euros?|pounds|crowns|francs|"
        r"kosten|kostet|preise?|bezahlt|ausgaben|zuschuss|coûts?|coûte|prix|payé|dépens\w+|costes?|costos?|cuesta|"
        r"precios?|pagó|gast\w+",
        r"€|\$|£|¥|円|元|費用|价格|费用|تكلفة",
    )
)
_MONEY_ASKED = union(
    (
        r"costs?|prices?|expens\w+|how much .{0,40}(?:pay|paid|spend|spent)|subsid\w+|funding|kosten|kostet|"
        r"preise?|coûts?|coûte|prix|costes?|costos?|cuesta|precios?",
        "費用|価格|价格|费用|تكلفة",
    )
)
_DEFINES = union(
    (
        r"is (?:a|an|the)|are (?:the )?\w+ (?:that|which)|means|refers to|defined as|stands for|ist ein\w*|"
        r"bedeutet|est une?|signifie|es una?|significa",
        "とは|である|是指|هو|هي",
    )
)
_DOUBTS = union(
    (
        r"not|no|however|but|cannot|could not|only|limits?|limitations?|uncertain\w*|doubts?|caution|caveat|"
        r"although|contrary|object(?:s|ed|ion)?|dispute\w*|disagree\w*|"
        r"lower|less than|without|failed?|exclude[sd]?|unclear|modelled|estimate[sd]?",
        r"nicht|kein\w*|jedoch|aber|unsicher\w*|zweifel|grenzen?|pas|aucune?|cependant|mais|limites?|incertain\w*|"
        r"pero|sin embargo|ningun\w*|límites?",
        "ない|しかし|不|没有|但|限|لا|لم|لكن",
    )
)
_TRENDS = union(
    (
        r"rose|fell|grew|increas\w+|decreas\w+|declin\w+|from .{1,40} to|compared with|against|changed?|since|"
        r"before|after|more|fewer|less|doubled|halved|higher|lower",
        r"stieg|sank|fiel|wuchs|zugenommen|abgenommen|verglichen|augment\w+|baiss\w+|diminu\w+|aument\w+|"
        r"disminuy\w+|cay\w+",
        "増|減|上昇|低下|增|降|ارتفع|انخفض",
    )
)
_HOW_TO = union((r"how (?:do|can|should|to)|wie (?:kann|soll)|comment (?:faire|peut)|cómo (?:hacer|puedo)",))
_FRAME_WORDS = frozenset(
    distinct(
        "figures numbers values published reported differ difference explain known report sources disagree given "
        "describe described measures options compare "
        "regard limits doubts contrary findings one two three four five first second third year years month months "
        "extent quickly well much many stated question leave arrive different support study studies evidence "
        "Zahlen Werte Quellen bekannt genannt "
        "abweichen chiffres sources connu cifras fuentes sabe regard connection name list"
    )
)
"""Words of asking that no answer repeats."""
_FRAME_WEIGHT = 0.3
_TITLE_WEIGHT = 0.45
"""Words that the title has too: every sentence of the document is about them, whether it says so or not."""
_DATE_WEIGHT = 0.3
"""Dates that limit a question: what happened then need not repeat them."""
_UNDER_WHY = 0.3
"""Stands under a heading that promises the reasons asked for."""
_UNDER_WEIGHT = 0.9
"""The same where the heading says nothing but what is asked."""
_ABSENT_WEIGHT = 0.55
"""Words that the source never uses, unless a single fact is asked for: it may say the same in other words."""
_MOSTLY_ABSENT = 0.6
_MOST_OF_IT = 0.5
"""Share of the topic's words that the answer to a lookup must have."""
_NAME_WEIGHT = 0.45
"""Words of proper names: they say where and who, seldom what is asked."""
_HEADING_WEIGHT = 0.6
"""Words that only the heading above a sentence has."""
_TELLING = 6
"""Words of a question that an answer may be expected to have, at most."""
_CONTEXT_WEIGHT = 0.5
"""Words of the objective that the question itself does not have."""

_NAME_LIKE = 4
"""Words of a title that is a name, at most."""
_RARE = 2.2
_FORM_LEAST, _FORM_MOST = 0.4, 1.7
_ABOUT_IT, _ABOUT_MOST, _NEAR_IT, _OPENING = 0.3, 0.22, 0.12, 0.1


@dataclass(frozen=True)
class Wanted:
    """One question, made ready for ranking."""

    weights: tuple[tuple[str, float], ...]
    names: tuple[str, ...]
    text: str
    span: tuple[int, int] | None
    core: frozenset[str] = frozenset()
    """Words of the topic, without those of asking and, where others remain, of names."""
    lookup: bool = False
    """A single fact is asked for: most words must be met, or it is another fact."""
    money: frozenset[str] = frozenset()
    """Words of it that ask for money."""

    @property
    def total(self) -> float:
        """Weight that an answer is held against: of the most telling words, since no answer repeats a long question."""
        return sum(sorted((weight for _, weight in self.weights), reverse=True)[:_TELLING])


class Ranking:
    """Sentences of one source, or of several, ranked against questions. Rarity is counted in these sentences only.

    Args:
        sentences: what is ranked.
        title: title of the source, empty for several sources.
    """

    def __init__(self, sentences: Sequence[str], title: str = "", language: str | None = None) -> None:
        self.sentences = tuple(sentences)
        self.held = tuple(frozenset(terms(sentence, language)) for sentence in self.sentences)
        self._title = frozenset(distinct(title))
        self._spread = Counter(term for held in self.held for term in held)
        self._headings: list[frozenset[str]] = []
        self._labels: list[frozenset[str]] = []
        self._whys: list[bool] = []
        """Whether the heading above a sentence promises reasons."""
        self._look_above(bool(title))

    def _look_above(self, of_one_source: bool) -> None:
        """Note the nearest heading above each sentence: its terms, and whether it asks why."""
        main: frozenset[str] = frozenset()
        below: frozenset[str] = frozenset()
        why = False
        for at, sentence in enumerate(self.sentences):
            if of_one_source and is_label(sentence):
                below = self.held[at]
            elif of_one_source and is_heading(sentence):
                main, below, why = self.held[at], frozenset(), bool(cues.REASON.search(sentence))
            self._headings.append(main)
            self._labels.append(below)
            self._whys.append(why)

    def rarity(self, term: str) -> float:
        """Weigh a word by how few of the sentences have it."""
        count, spread = max(1, len(self.sentences)), self._spread[term]
        return math.log(1 + (count - spread + 0.5) / (spread + 0.5))

    def wanted(self, question: str, objective: str = "", language: str | None = None) -> Wanted:
        """Make a question ready: its words with weights, those of the objective beside it."""
        own = distinct(question, language)
        around = [term for term in distinct(objective, language) if term not in own]
        leaning = bool(around) and (leans_on(objective, question) or all(term in _FRAME_WORDS for term in own))
        named = names(f"{question} {objective}", language)
        scope = frozenset(term for name in named for term in distinct(name, language))
        strict = not cues.EXPECTS_ONE_POINT.match(question) or bool(years(question)) or question[:3].casefold() == "who"
        lookup = bool(cues.LOOKUP.match(question)) and strict and not leaning
        absent = 1.0 if lookup else _ABSENT_WEIGHT
        weights: dict[str, float] = {}
        for term in own:
            weights[term] = self._weight(term, scope, absent)
        for term in around:
            weights[term] = self._weight(term, scope, absent) * (1.0 if leaning else _CONTEXT_WEIGHT)
        topic = own if not leaning else (*own, *around)
        dates = (
            frozenset() if lookup else frozenset(str(year) for year in years(f"{question} {objective}")) | date_terms()
        )
        for term in weights:
            weights[term] *= _DATE_WEIGHT if term in dates else 1.0
        core = frozenset(term for term in topic if term not in _FRAME_WORDS and term not in dates)
        if not core <= scope:
            core = frozenset(term for term in core if term not in scope)
        return Wanted(
            tuple(weights.items()), named, question, period(objective or question), core, lookup, _money_words(question)
        )

    def _weight(self, term: str, scope: frozenset[str], absent: float) -> float:
        if self._spread[term]:
            weight = min(self.rarity(term), 4.0)
        else:
            weight = min(math.log(1 + len(self.sentences) + 0.5), 3.0) * absent
        if term in _FRAME_WORDS:
            weight *= _FRAME_WEIGHT
        if term in scope:
            weight *= _NAME_WEIGHT
        if term in self._title:
            weight *= _TITLE_WEIGHT
        return weight

    def score(self, at: int, wanted: Wanted, confirmed: frozenset[str] = frozenset()) -> float:
        """Say how well sentence `at` answers, 0 to about 2; `confirmed` words, of a sentence it leans on, count too."""
        held = self.held[at] | confirmed
        heading = self._headings[at]
        why = self._whys[at] and bool(heading & wanted.core) and bool(cues.REASON.search(wanted.text))
        under = bool(heading) and (heading <= wanted.core or why) and not wanted.lookup
        above = (heading | self._labels[at] | self._just_before(at, wanted) | self._meant(at, wanted)) - held
        telling = [term for term in sorted(wanted.core) if term in held or term in above]
        if self._title and self._is_elsewhere(wanted):
            return 0.0
        if not telling or not wanted.total or not (under or any(term in held for term, _ in wanted.weights)):
            return 0.0
        share = _UNDER_WEIGHT if under else _HEADING_WEIGHT
        covered = sum(weight * (term in held or share * (term in above)) for term, weight in wanted.weights)
        covered = min(1.0, covered / wanted.total)
        if not under and not self._enough(at, telling, wanted):
            return 0.0
        score = (
            covered * form(self.sentences[at], wanted.text, wanted.span, grounds=why)
            + _UNDER_WHY * why
            + _named(self.sentences[at], wanted.names)
        )
        return score + self._of_its_title(at, wanted)

    def _is_elsewhere(self, wanted: Wanted) -> bool:
        """Tell a source that never uses most of the words that the question is about."""
        topic = [term for term in wanted.core if not term[0].isdigit() and term not in wanted.money]
        missing = sum(1 for term in topic if not self._spread[term] and term not in self._title)
        return missing > _MOSTLY_ABSENT * len(topic)

    def _meant(self, at: int, wanted: Wanted) -> frozenset[str]:
        """Words of money in the question, where the sentence speaks of money in other words."""
        if not (self._title and wanted.money and _MONEY.search(self.sentences[at])):
            return frozenset()
        return wanted.money

    def _just_before(self, at: int, wanted: Wanted) -> frozenset[str]:
        """Words of the two sentences before, where grounds are asked for: they stand behind what they explain."""
        if not self._title or not gives_grounds(self.sentences[at], wanted.text):
            return frozenset()
        return frozenset(term for back in range(max(0, at - 2), at) for term in self.held[back])

    def _enough(self, at: int, telling: list[str], wanted: Wanted) -> bool:
        """Ask for two of the words that matter; one will do if it is rare, or the form is that of an answer."""
        if wanted.lookup and self._title:
            few = len(telling) <= _MOST_OF_IT * len(wanted.core) if len(wanted.core) > 2 else not telling
            if few or not self._names_it(at, wanted):
                return False
        spoken = [term for term in telling if not term[0].isdigit()]
        if len(spoken) >= (2 if len(wanted.core) > 2 else 1):
            return True
        if not spoken:
            return False
        if asks_for_difference(wanted.text) and _SCOPES.search(self.sentences[at]):
            return True
        return spoken[0] not in self._title and self.rarity(spoken[0]) > _RARE and len(wanted.core) <= 4

    def _names_it(self, at: int, wanted: Wanted) -> bool:
        """Tell whether a name of the question stands in the sentence, those before it, its heading or the title."""
        around = self.held[at] | self._headings[at] | self._title
        around = around.union(*self.held[max(0, at - 2) : at])
        parts = [frozenset(distinct(name)) for name in wanted.names]
        return not parts or any(len(part & around) * 2 >= len(part) for part in parts)

    def _of_its_title(self, at: int, wanted: Wanted) -> float:
        """Favour a document that is about what the question names, above all in its first words."""
        asked = {term for term, _ in wanted.weights}
        if not self._title or len(self._title) > _NAME_LIKE or not self._title <= asked:
            shared = len(self._title & wanted.core)
            if wanted.lookup or shared < 2:
                return 0.0
            return _ABOUT_MOST if shared * 2 >= len(wanted.core) else _NEAR_IT
        return _ABOUT_IT + (_OPENING if at == 0 else 0.0)


def _money_words(question: str) -> frozenset[str]:
    return frozenset(term for match in _MONEY_ASKED.finditer(question) for term in distinct(match.group()))


def _named(sentence: str, wanted: tuple[str, ...]) -> float:
    if not wanted:
        return 0.0
    hits = sum(1 for name in wanted if name in sentence)
    return 0.12 * hits / len(wanted)


def form(sentence: str, question: str, span: tuple[int, int] | None = None, *, grounds: bool = False) -> float:
    """Weigh a sentence by the form of answer that a question wants: a figure, a date, a cause, a doubt, a change.

    Args:
        sentence: what is weighed.
        question: what is asked.
        span: years that the question is limited to.
        grounds: the heading above it promises reasons.
    """
    factor = 1.0
    if cues.TIME_ASKED.search(question):
        factor *= (
            1.35
            if years(sentence) or re.search(r"\d{1,2}[:.]\d{2}|\d{1,2} (?:January|May|June|July)", sentence)
            else 0.7
        )
    elif cues.QUANTITY.search(question) or re.match(
        r"\W*how (?:well|far|noisy|quickly|punctual)", question, re.IGNORECASE
    ):
        factor *= 1.3 if has_figure(sentence) else 0.7
    if asks_for_difference(question):
        factor *= 1.5 if _SCOPES.search(sentence) else 0.6
    elif cues.REASON.search(question):
        factor *= 1.4 if grounds or _CAUSES.search(sentence) else 0.75
    if _MONEY_ASKED.search(question):
        factor *= 1.1 if _MONEY.search(sentence) else 0.5
    if _DOUBTS_ASKED.search(question):
        factor *= 1.35 if _DOUBTS.search(sentence) else 0.6
    if cues.EFFECT.search(question) or cues.DEVELOPMENT.search(question):
        factor *= 1.15 if _TRENDS.search(sentence) else 0.95
    if re.match(r"\W*(?:what|was|qu'est|qué) (?:is|are|ist|sind|est|es)\b", question, re.IGNORECASE):
        factor *= 1.15 if _DEFINES.search(sentence) else 1.0
    if span and (spoken := span_of_years(sentence)):
        factor *= 1.05 if spoken[0] <= span[1] and spoken[1] >= span[0] else 0.75
    elif (asked := years(question)) and (said := years(sentence)):
        factor *= 1.15 if set(asked) & set(said) else 0.7
    return min(_FORM_MOST, max(_FORM_LEAST, factor))


_DOUBTS_ASKED = union(
    (
        r"limits?|doubts?|objections?|disagree|criticisms?|contrary|leave out|grenzen|zweifel|einwände|"
        r"widersprechen|limites|doutes|divergent|límites|dudas|discrepan",
    )
)


_DIFFERENCE_ASKED = union(
    (
        r"differ(?:s|ed)?|leave out|the (?:gap|spread|differences?)|arrive at different|vary|disagree",
        r"abweichen|weichen|unterscheiden sich|auslassen|diffèr\w+|divergent|écarts?|difieren|discrepan|diferencias?",
        "異な|違い|不同|差异|تختلف",
    )
)


def asks_for_grounds(question: str) -> bool:
    """Tell a question for differences or doubts: figures alone are no answer."""
    return asks_for_difference(question) or bool(_DOUBTS_ASKED.search(question))


def asks_for_difference(question: str) -> bool:
    """Tell a question for what sets figures apart: what was counted and what was left out."""
    return bool(_DIFFERENCE_ASKED.search(question))


def gives_grounds(sentence: str, question: str) -> bool:
    """Tell whether a sentence has the form that a question for differences, doubts or reasons wants."""
    if asks_for_difference(question):
        return bool(_SCOPES.search(sentence))
    if _DOUBTS_ASKED.search(question):
        return bool(_DOUBTS.search(sentence))
    return bool(cues.REASON.search(question) and _CAUSES.search(sentence))


def wants_instructions(question: str) -> bool:
    """Tell whether a question asks how to do something, so that instructions are answers."""
    return bool(_HOW_TO.search(question))
