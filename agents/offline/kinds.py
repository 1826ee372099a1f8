"""Closed lists of words that tell what kind of question it is, or that it is none."""

import re

from agents.contracts.frozen import QueryType
from agents.offline.cues import COMPARES, QUANTITY, union

GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|hey there|good (?:morning|afternoon|evening|day)|hiya|howdy|greetings|thanks|thank you|"
    r"thx|cheers|bye|goodbye|"
    r"(?:and )?how are you(?: doing)?(?: today)?|how is it going|what's up|who are you|what are you|what can you "
    r"do|can you help me|help|test|testing|are you there|"
    r"hallo|guten (?:tag|morgen|abend)|servus|moin|danke(?: schön)?|wie geht(?:'s| es dir| es ihnen)?|wer bist du|"
    r"was kannst du|"
    r"bonjour|salut|bonsoir|merci|comment (?:ça va|allez-vous|vas-tu)|ça va|qui es-tu|hola|buenos días|buenas "
    r"tardes|gracias|cómo estás|qué tal|quién eres|"
    r"ciao|buongiorno|grazie|come stai|olá|oi|obrigad[oa]|tudo bem|dag|dank je|hoe gaat het|hej|tack|hur mår du|"
    r"こんにちは|おはよう|ありがとう|元気ですか|你好|您好|谢谢|你好吗|你是谁|مرحبا|السلام عليكم|شكرا|كيف حالك)"
    r"(?:[\s,!.?]+(?:hi|hello|hey|there|"
    r"dossier|how are you|all|everyone|thanks))*[\W_]*$",
    re.IGNORECASE,
)
"""Words that greet, thank or ask about the listener: nothing to research."""

QUERY_TYPES: tuple[tuple[QueryType, re.Pattern[str]], ...] = (
    (
        "medical_legal_financial",
        union(
            (
                r"symptoms?|diagnos\w+|treatments?|therap(?:y|ies)|medications?|dosage|dose|side effects|disease|"
                r"patients?|cancer|vaccin\w+|surgery|clinical",
                r"legal(?:ly)?|lawsuit|court|liab(?:le|ility)|sue|tenant|contract law|statute|tax(?:es|ation)?|"
                r"invest(?:ing|ment)?|mortgage|loan|pension|stocks?|bonds?|insurance",
                r"symptome?|behandlung|therapie|krankheit|medikamente?|dosierung|impfung|rechtlich|gericht|haftung|"
                r"steuern?|geldanlage|aktien|kredit|rente|versicherung",
                r"symptômes?|traitement|maladie|médicaments?|juridique|tribunal|impôts?|placement|crédit|síntomas?|"
                r"tratamiento|enfermedad|medicamentos?|legal|impuestos?|inversión",
                "症状|治療|病気|薬|法律|税|投資|治疗|疾病|药|法律|税|投资|أعراض|علاج|مرض|قانون|ضريبة|استثمار",
            )
        ),
    ),
    ("comparison", COMPARES),
    (
        "technical",
        union(
            (
                r"how (?:do|can|should) i|how to|step by step|install|configure|set up|debug|implement|error "
                r"message|tutorial|manual|library|api|code|software",
                r"wie (?:kann|mache|installiere) ich|anleitung|schritt für schritt|einrichten|comment (?:faire|"
                r"installer|configurer)|cómo (?:hacer|instalar|configurar|puedo)",
                "方法を教えて|やり方|手順|怎么做|如何安装|教程|كيف أ",
            )
        ),
    ),
    (
        "news",
        union(
            (
                r"latest|news|recent(?:ly)?|this (?:week|month|year)|today|yesterday|currently|breaking|"
                r"neueste[nrs]?|aktuell(?:e[rns]?)?|nachrichten|heute",
                r"dernières nouvelles|actualités?|récemment|aujourd['’]hui|noticias|recientes?|últimas|hoy|notizie|"
                r"notícias|nieuws|nyheter",
                "最新|ニュース|今日|新闻|最近|今天|أخبار|أحدث",
            )
        ),
    ),
    (
        "academic",
        union(
            (
                r"stud(?:y|ies)|trials?|literature|peer.reviewed|meta.analys\w+|systematic review|hypothes\w+|"
                r"theor(?:y|ies|em)|papers?|scholars?|research(?:ers)? (?:say|found|show)",
                r"studien?|forschung|literatur|theorien?|études?|recherches?|littérature|estudios?|investigación|"
                r"literatura|studi|ricerca|estudos|onderzoek|studier|forskning",
                "論文|研究では|学術|论文|文献|学术|دراسات|أبحاث",
            )
        ),
    ),
    ("statistics", QUANTITY),
    (
        "person_or_organisation",
        union(
            (
                r"who|whose|whom|founder|founded|biography|company|organi[sz]ation|ceo|director|president",
                r"wer|gründer|gegründet|biografie|unternehmen|organisation|qui|fondateur|entreprise|quién|fundador|"
                r"empresa|chi|quem|wie is|vem",
                "誰|創業|会社|谁|创始人|公司|من هو|مؤسس|شركة",
            )
        ),
    ),
)
"""Which kind of question, first match wins: caution before form before topic."""
