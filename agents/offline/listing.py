"""Tells a question whose answer is a list of things that it does not name: sources have to be looked for widely first.

Grammar only: an order for a list, or a plural that is asked for (`which cities …`, `welche Städte haben …`). What is
asked about a thing that is already known (`which effects …`, `which of the two …`) asks for no list of things.
"""

import re

from agents.offline import cues
from agents.offline.question_parts import Clause

_OF_KNOWN = re.compile(
    r"(?:reason|cause|factor|effect|impact|consequence|implication|influence|figure|number|value|rate|share|cost|price|"
    r"amount|result|finding|outcome|difference|similarit|change|trend|development|condition|criteri|requirement|"
    r"rule|term|argument|criticism|objection|claim|reform|measure|countermeasure|remed|step|way|mean|method|role|task|"
    r"duty|duties|right|risk|benefit|advantage|disadvantage|drawback|strength|weakness|problem|challenge|issue|question|"
    r"aspect|part|side|feature|property|properties|symptom|year|month|week|day|date|hour|period|decade|season|"
    r"explanation|evidence|lesson|limit|assumption|detail|circumstance|shortcoming|fact)",
    re.IGNORECASE,
)
"""Beginnings of words for what belongs to a known thing, or is measured of it."""
_OF_KNOWN_ELSEWHERE = re.compile(
    r"(?:gründe|ursache|faktor|wirkung|auswirkung|folge|zahl|wert|rate|anteil|kosten|preis|ergebnis|unterschied|"
    r"veränderung|entwicklung|bedingung|kriteri|regel|argument|kritik|einwand|reform|maßnahme|schritt|art|weise|rolle|"
    r"aufgabe|recht|risik|vorteil|nachteil|stärke|schwäche|problem|frage|aspekt|seite|eigenschaft|symptom|jahr|monat|"
    r"raison|cause|facteur|effet|conséquence|chiffre|valeur|taux|coût|prix|résultat|différence|changement|condition|"
    r"critère|règle|critique|réforme|mesure|étape|rôle|risque|avantage|inconvénient|problème|question|aspect|année|mois|"
    r"razon|razón|causa|efecto|consecuencia|cifra|valor|tasa|costo|coste|precio|resultado|diferencia|cambio|condicion|"
    r"regla|argumento|crítica|medida|paso|papel|riesgo|ventaja|desventaja|pregunta|aspecto|año|mes|"
    r"ragion|effett|conseguenz|cifr|tass|cost|prezz|risultat|differenz|cambiament|condizion|regol|critic|misur|"
    r"rischi|vantagg|svantagg|domand|aspett|ann[oi]|mes[ei]|razõe|efeito|consequência|número|preço|diferença|mudança|"
    r"medida|risco|vantage|problema|oorzaak|oorzaken|reden|gevolg|effect|cijfer|kost|prijs|resultaten|verschil|"
    r"verandering|voorwaarde|regel|maatregel|risico|voordeel|nadeel|vraag|aspect|jaar|orsak|effekt|följd|siffr|kostnad|"
    r"pris|resultat|skillnad|förändring|villkor|åtgärd|risk|fördel|nackdel|fråg|år)",
    re.IGNORECASE,
)

_ORDER = re.compile(
    r"^(?:please |could you |can you |i (?:need|want|would like) |give me |show me |make (?:me )?)*"
    r"(?:(?:a|the|an? (?:full|complete|short|annotated))? ?list of|list(?: (?:all|every|the|some|up to)| \d+)?|"
    r"enumerate|compile|collect|find(?: me)?(?: (?:all|every|some)| \d+)|name(?: (?:all|every|some)| \d+)|"
    r"identify(?: (?:all|every|the|some)| \d+)?|who (?:are|were) the)\s+(?P<what>.+)",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"^(?:in |at |on |for |by |from )?(?:which|what (?=(?:\w+ ){0,2}(?:studies|papers|reports|articles|books|sources|"
    r"documents|datasets|surveys|trials|experiments|authors|researchers|people|companies|firms|makers|manufacturers|"
    r"suppliers|organi[sz]ations|institutions|agencies|universities|museums|cities|towns|countries|regions|states|"
    r"places|sites|projects|programmes|programs|products|tools|species)\b))\s*(?!of\b|one\b)(?P<what>.+)",
    re.IGNORECASE,
)
"""`What` asks for things only before words for who acts, where, and what is published: `what drives prices` does not."""
_PLURAL = re.compile(
    r"(?:people|men|women|children|media|criteria|data(?=sets)|[a-z-]{2,}(?:[^siu\W]s|ies|ses|xes|ches))$", re.I
)
_GOES_ON = re.compile(
    r"(?:have|has|had|are|were|was|is|do|did|does|can|could|will|would|may|might|should|must|that|who|which|in|on|at|"
    r"of|by|for|with|about|from|to|under|over|near|within|between|since|before|after|during|published|using|run|use|"
    r"used|offer|offered|sell|make|made|built|won|took|take|report|reported|measured|studied|show|showed|found)$",
    re.IGNORECASE,
)
_ELSEWHERE = (
    re.compile(
        r"^(?:[Ii]n |[Aa]n |[Bb]ei |[Vv]on )?[Ww]elche[nr]?\s+(?P<what>(?:[a-zäöüß]+\s+){0,3}[A-ZÄÖÜ][\wäöüß-]+)"
        r"(?:\s+[a-zäöüß]{2,}en|(?:\s+(?!hat\b|ist\b|war\b|wird\b|wurde\b)[\wäöüß.,-]+){0,4}?\s+(?:haben|hatten|sind|"
        r"waren|wurden|werden|können|konnten|gibt es|gab es))(?!\w)"
    ),
    re.compile(r"^(?:dans |à |par )?quel(?:le)?s\s+(?!sont (?:les|leurs) )(?P<what>.+)", re.IGNORECASE),
    re.compile(r"^(?:en |a )?(?:qué|cuáles)\s+(?P<what>[\wáéíóúñ]+(?:as|os|es))\b.*", re.IGNORECASE),
    re.compile(r"^(?:in |a )?(?:quali|quais)\s+(?!(?:sono|são|foram|furono) )(?P<what>.+)", re.IGNORECASE),
    re.compile(
        r"^(?:in |op )?welke\s+(?P<what>[\w-]+(?:en|s))\s+(?:hebben|hadden|zijn|waren|werden|worden|kunnen)\b", re.I
    ),
    re.compile(r"^(?:i |på )?vilka\s+(?P<what>.+)", re.IGNORECASE),
    re.compile(
        r"^(?:bitte )?(?:(?:erstelle|mache?|gib mir) )?(?:eine )?(?:liste|aufstellung) (?:der|von|aller)\s+(?P<what>.+)|"
        r"^(?:nenne|liste)[rn]?\s+(?:mir\s+)?(?:alle|sämtliche)\s+(?P<what_b>.+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:(?:fais|dresse[rz]?|donne[rz]?-moi) )?(?:une |la )?liste (?:des?|d['’])\s*(?P<what>.+)|"
        r"^(?:haz |dame |elabora )?(?:una |la )?lista (?:de|con)\s+(?P<what_b>.+)|"
        r"^(?:fai |dammi )?(?:un |l['’])?elenco d(?:i|ei|elle|egli)\s+(?P<what_c>.+)|"
        r"^(?:een |de )?lijst (?:van|met)\s+(?P<what_d>.+)|^(?:en )?lista (?:över|med)\s+(?P<what_e>.+)",
        re.IGNORECASE,
    ),
)
_SPACELESS = re.compile(
    r"哪些(?!特点|因素|原因|影响|问题|优势|劣势|优点|缺点|方面|方法|措施|变化|风险|条件|步骤|挑战|差异|区别|好处|后果)|列出|清单|名单|一覧|"
    r"リストアップ|列挙|を挙げ"
)


def asks_for_a_list(clause: Clause) -> bool:
    """Tell whether a clause asks for things that it does not name."""
    text = clause.text.strip(" ¿¡\t\n")
    if clause.items or clause.aspects or cues.COMPARES.search(text):
        return False
    if cues.SPACELESS.search(text):
        return bool(_SPACELESS.search(text))
    if (order := _ORDER.match(text)) and not _OF_KNOWN.match(_head(order["what"])):
        return bool(_head(order["what"]))
    if which := _WHICH.match(text):
        head = _head(which["what"])
        return bool(head) and not _OF_KNOWN.match(head)
    for pattern in _ELSEWHERE:
        if found := pattern.match(text):
            what = next(value for value in found.groupdict().values() if value)
            words = re.findall(r"[^\W\d_][\w-]*", what)[:4]
            return not any(_OF_KNOWN_ELSEWHERE.match(word) for word in words)
    return False


def _head(phrase: str) -> str:
    """Give the plural noun that a phrase is about; empty when it starts with none."""
    words = re.findall(r"[^\W\d_][\w'’-]*", phrase)[:6]
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if _GOES_ON.match(word):
            return ""
        if _PLURAL.search(word) and not _PLURAL.search(following):
            return "" if following.casefold() in {"the", "a", "an", "this", "its"} else word
    return ""
