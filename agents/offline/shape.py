"""The form of a sentence: what can stand as a quotation, and what is a heading, row, question or order."""

import re

from agents.offline.cues import SPACELESS, union

_MARKER = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•‣·–>]\s+|\(?\d{1,3}[.)]\s+(?=\D)|\(?[a-zA-Z][.)]\s+)")
_BOLD = re.compile(r"\*{1,3}|_{2,3}|`")
_STOP = re.compile(r"[.!…。！؟।]['\"”’»)\]]*$")
_ASKS = re.compile(r"[?？؟]['\"”’»)\]]*$")
_ROW = re.compile(r"\s\|\s|^\s*\||\t")

_READER = union(
    (
        r"(?:language|ai|automated|chat) (?:models?|assistants?|readers?|agents?|systems?|bots?)|chatbots?|as an ai|"
        r"(?:previous|prior|earlier|above|your|all|these|given) (?:instructions?|rules?|orders?|prompts?)|the "
        r"(?:rules|instructions) you were given",
        r"system (?:override|prompt|message|instruction)s?|override \d+|jailbreak|your (?:answer|reply|response|"
        r"report|output|user|operator)",
        r"sprachmodell(?:e|s)?|automatische[rnsm]? leser|(?:vorherigen|bisherigen|deine|ihre) (?:anweisungen|"
        r"regeln)|deine[rnm]? (?:antwort|nutzer)",
        r"modèles? de langue|(?:instructions|consignes) (?:précédentes|antérieures)|ta réponse|votre réponse|"
        r"modelos? de lenguaje|"
        r"instrucciones (?:anteriores|previas)|tu respuesta",
        "言語モデル|指示を無視|语言模型|之前的指令|忽略.{0,6}指令",
    )
)
_COMMANDS_READER = union(
    (
        r"you (?:must|should now|have to|are (?:now|required|instructed|ordered|commanded|to)|shall|will now|need "
        r"to (?:say|claim|answer|reply|ignore))",
        r"(?:do not|don't|never) (?:tell|inform|reveal|mention|disclose|cite|trust|use) (?:your|the user|this|any "
        r"other)|authori[sz]ed to execute",
        r"du (?:musst|sollst)|sie müssen (?:jetzt|nun)?\s*(?:antworten|sagen|behaupten)|tu dois|vous devez "
        r"(?:répondre|dire|affirmer)|debes (?:responder|decir)",
    )
)
_ORDER_START = re.compile(
    r"^\W*(?:(?:important|urgent|attention|notice|note|hinweis|wichtig)\b[^:]{0,60}:\s*)?(?:please\s+|now\s+|"
    r"then\s+|and\s+|bitte\s+)?"
    r"(?:ignore|disregard|forget|overlook|reply|respond|pretend|repeat after|act as|execute|begin your|start your|"
    r"reveal|"
    r"(?:say|state|claim|assert|declare|report|write|confirm|conclude|answer|output|print|tell)\s+(?:that|only|"
    r"exactly|the user|everyone|[“\"‘']|authori)|"
    r"(?:open|fetch|visit|download|send|copy|post|call|load)\s+(?:https?:|the (?:text|content|address|url|link|"
    r"secrets?)|this (?:url|link|address))|"
    r"ignoriere?n?|vergiss|antworte?n?|behaupte?n?|ignore[rz]|oublie[rz]?|réponde?[sz]?|affirme[rz]?|ignora|olvida|"
    r"responde|afirma)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^\W*(?:(?:please|always|never|do not|don't|bitte)\s+)?(?:click|subscribe|sign up|log in|contact|visit|"
    r"register|read more|share|follow us|see also|see|note|"
    r"anchor|haul|ask|take|use|keep|make sure|mark|call|write|send|choose|check|buy|book|order|download|accept|pay|"
    r"stop|continue|put|set|give|state|repeat|"
    r"extend|remember|consider|imagine|let us|let's|klicken|abonnieren|kontaktieren|cliquez|abonnez|haga "
    r"clic)\b(?!\s+(?:of|and|or|is|was|are|were|has|had)\b)",
    re.IGNORECASE,
)
_BOILERPLATE = union(
    (
        r"cookies?|all rights reserved|copyright|privacy policy|terms of use|newsletter|subscribe|log ?in|sign up|"
        r"javascript|click here|read more|"
        r"last (?:changed|updated|modified)|share this|advertisement|impressum|datenschutz|tous droits réservés|"
        r"reservados todos",
        r"©",
    )
)
_VERBLIKE = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|could|will|would|may|might|must|should|shall|"
    r"\w{3,}(?:ed|es|s|ing|t|te|en|et|ent|ait|ó|a|e|o))\b",
    re.IGNORECASE,
)
LEANS = re.compile(
    r"^\W*(?:it|its|they|their|these|those|this|that|such|he|she|his|her|both|neither|each of|most of (?:this|that|"
    r"these|them)|the (?:latter|former|same)|"
    r"however|but|yet|so|thus|therefore|hence|also|moreover|furthermore|in addition|instead|nevertheless|still|"
    r"then|there|here|second|third|finally|"
    r"and|or|nor|for example|for instance|by contrast|in contrast|as a result|even so|a further|another|further|"
    r"er|sie|es|dies\w*|das|jene\w*|jedoch|aber|doch|deshalb|daher|außerdem|dabei|dort|damit|davon|dennoch|trotzdem|"
    r"il|elle|ils|elles|cela|ce|ces|cette|celui|celle|mais|cependant|toutefois|donc|ainsi|en outre|de plus|"
    r"esto|eso|estos|estas|ellos|ellas|pero|sin embargo|además|así|por eso|"
    r"questo|questa|questi|ma|però|quindi|inoltre|isso|isto|mas|porém|dit|deze|maar|echter|detta|men)\b",
    re.IGNORECASE,
)
"""A beginning that cannot be understood without the sentence before."""
_DUMMY = re.compile(
    r"^\W*(?:it (?:is|was|has been) (?:\w+ )?(?:that|to|\w+ed that)|there (?:is|are|was|were)|es gibt|il y a|hay)\b",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Write a unit of text as one line, without the marks of layout in front of it or around its words."""
    return " ".join(_BOLD.sub("", _MARKER.sub("", text, count=1)).split())


def bare(text: str) -> str:
    """Drop layout marks in front of a quotation; what stays is a run of the same characters, spaces made single."""
    return " ".join(_MARKER.sub("", text, count=1).split())


def is_order(text: str) -> bool:
    """Tell a sentence that commands its reader, or a program that reads it: by form, whatever it commands."""
    if _ORDER_START.match(plain(text)) or _COMMANDS_READER.search(text):
        return True
    return bool(
        _READER.search(text)
        and (re.search(r"\b(?:you|your|ignore|must)\b", text, re.IGNORECASE) or _IMPERATIVE.match(text))
    )


def is_imperative(text: str) -> bool:
    """Tell an instruction (`Anchor on sand.`): a fact only where the question asks how to do something."""
    return bool(_IMPERATIVE.match(plain(text)))


def is_sentence(text: str) -> bool:
    """Tell a whole statement from a heading, a table row, a question, a label or a notice of the page."""
    line = plain(text)
    if _ROW.search(text) or text.lstrip().startswith("#") or _ASKS.search(line) or _BOILERPLATE.search(line):
        return False
    if SPACELESS.search(line):
        return len(line) >= 10 and bool(_STOP.search(line))
    if not _STOP.search(line) or len(line.split()) < 5 or line.endswith(":"):
        return False
    return bool(_VERBLIKE.search(line))


def cells(text: str) -> tuple[str, ...]:
    """Take a table row apart; empty for anything else."""
    if " | " not in text or "\n" in text.strip():
        return ()
    return tuple(cell.strip() for cell in text.strip().strip("|").split("|"))


def is_heading(text: str) -> bool:
    """Tell a heading or label: short, and no full stop, or a question by itself."""
    line = plain(text)
    if _ROW.search(text) or len(line) > 90:
        return False
    return text.lstrip().startswith("#") or not _STOP.search(line) or (len(line.split()) <= 3 and line.endswith("."))


def is_label(text: str) -> bool:
    """Tell a short opening of a list or list item (`Three causes are documented:`, `1. Noise.`), below a heading."""
    return is_heading(text) and (
        plain(text).endswith((":", "：")) or (bool(_MARKER.match(text)) and not text.lstrip().startswith("#"))
    )


def leans(text: str) -> bool:
    """Tell a sentence that needs the one before it."""
    line = plain(text)
    return bool(LEANS.match(line)) and not _DUMMY.match(line)


def at_sentence_end(text: str) -> str:
    """Drop the full stop of a quotation that stands within a longer sentence."""
    return re.sub(r"[.。]$", "", text)
