"""Closed lists of words that say what kind of question is asked. No topic word stands here, only the grammar of asking.

Every list covers the languages of the chat's templates and a few more; a message is held against all of them, since
short messages are often taken for the wrong language.
"""

import re
from collections.abc import Iterable

SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts that are written without spaces between words."""


def union(patterns: Iterable[str], *, whole: bool = True) -> re.Pattern[str]:
    """Compile alternatives, as whole words where the script has words."""
    joined = "|".join(
        pattern if not whole or SPACELESS.search(pattern) else rf"(?<!\w)(?:{pattern})(?!\w)" for pattern in patterns
    )
    return re.compile(joined, re.IGNORECASE)


INTERROGATIVE_WORDS = (
    "what|which|who|whom|whose|when|where|why|how|whether",
    "was|welche[rsnm]?|wer|wen|wem|wessen|wann|wo|woher|warum|weshalb|wieso|wie|wieviele?|inwiefern|inwieweit",
    "qu['’]|que|quoi|quel(?:le)?s?|qui|quand|où|pourquoi|comment|combien",
    "qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|por qué|cómo|cuánt[oa]s?",
    "che cosa|cosa|qual[ei]|qual|chi|quando|dove|perché|come|quant[oaie]",
    "quais|quem|onde|por que|por quê|como|quant[oa]s",
    "wat|welke?|wanneer|waar|waarom|hoe|hoeveel",
    "vad|vilke[nt]|vilka|vem|när|varför|hur",
    "なぜ|何|どの|どのよう|いつ|誰|どこ|どう|どれ|いくつ|いくら",
    "什么|哪|谁|何时|为什么|为何|怎么|怎样|如何|多少|几",
    "ماذا|ما|متى|أين|لماذا|كيف|كم|هل|أي",
)
INTERROGATIVE = union(INTERROGATIVE_WORDS)
"""A word that asks."""

_LEAD = (
    r"(?:by|to|in|at|on|for|from|since|until|under|with|of|per|um|in|an|auf|bis|seit|mit|von|zu|à|en|de|dans|pour|"
    r"depuis|a|desde|con|por|da|di|per|em|op|tot|i|på)\s+"
)
_WORDS = "|".join(part for part in INTERROGATIVE_WORDS if not SPACELESS.search(part) and "ما" not in part)
_JOIN = (
    r"(?:and|or|as well as|und|oder|sowie|et|ou|y|e|och|eller|en(?=\s+(?:wat|welke?|wanneer|waar|waarom|hoe|"
    r"hoeveel)\b))"
)
COORDINATED_QUESTION = re.compile(
    rf"\s*[,;:]?\s+{_JOIN}\s+(?=(?:{_LEAD})?(?:{_WORDS})(?!\w))|、\s*(?:また|そして)|[，；]\s*(?:并且|以及|而且)",
    re.IGNORECASE,
)
"""Where a second question is joined on within one sentence."""
COORDINATED_ORDER = re.compile(
    rf",?\s+{_JOIN}\s+(?=(?:name|list|explain|describe|say|give|compare|nenne|erkläre|vergleiche|beschreibe|"
    r"nomme[rz]?|explique[rz]?|compare[rz]?|explica|compara|nombra)(?!\w))",
    re.IGNORECASE,
)
ASKS_FOR = union(
    (
        "compare|contrast|analy[sz]e|evaluate|assess|describe|explain|list|find|tell me|give me|show me|summari[sz]e",
        "take|consider|review|investigate|research|examine|explore|name|identify|look into|write about|report on|"
        "discuss|i need to know",
        "i want to know|i would like to know|i'd like to know",
        "vergleichen?|vergleiche|analysieren?|bewerten?|beschreiben?|erklären?|erkläre|nennen?|finden?|"
        "untersuchen?|zeige?",
        "erzähle? mir|gib mir|geben sie mir|recherchieren?|ich möchte wissen|ich will wissen",
        "compare[rz]?|analyse[rz]?|évalue[rz]?|décri[st]|décrivez|explique[rz]?|liste[rz]?|trouve[rz]?|donne[rz]?-moi",
        "parle[rz]?-moi|dis-moi|dites-moi|je veux savoir|je voudrais savoir",
        "compara|compare|analiza|analice|evalúa|describe|explica|explique|enumera|busca|dime|dame|háblame|quiero saber",
        "confronta|analizza|valuta|descrivi|spiega|elenca|trova|dimmi|dammi|parlami",
        "analise|avalie|descreva|explique|liste|encontre|diga-me|fale-me",
        "vergelijk|analyseer|beoordeel|beschrijf|verklaar|noem|zoek|vertel me|geef me",
        "jämför|analysera|bedöm|beskriv|förklara|lista|hitta|berätta|ge mig",
        "比較|分析|評価|説明|教えて|調べて|まとめて|比较|评估|解释|列出|告诉我|研究|总结|介绍|调研|收集",
        "قارن|حلل|قيّم|اشرح|اذكر|أخبرني|ابحث|صف|لخص",
    )
)
"""Orders that ask for something, without a question word."""

SCOPE_OPEN = union(
    (
        r"everything(?: else)?|anything and everything|all there is(?: to (?:know|say))?|all you (?:know|can find)",
        r"(?:all|every|each|the many|various) (?:of (?:the|its|their) )?(?:relevant |possible |different )?"
        r"(?:aspects?|sides?|facets?|angles?|dimensions?|perspectives?|issues?|topics?|questions?)",
        r"all (?:the )?(?:pros and cons|advantages and disadvantages|details|facts|information)|all of it|all about",
        r"whatever else|and so on|in every (?:way|respect)|(?:the )?(?:whole|full|entire|big|complete) (?:story|"
        r"picture|topic)",
        r"(?:complete|comprehensive|full|general|broad|thorough|exhaustive|holistic|360.degree) "
        r"(?:overview|analysis|account|survey|review|report|guide|history|study|picture|assessment|summary|"
        r"introduction)",
        r"(?:an? )?overview(?: of)?|the state of (?:the art|affairs|the world)|ins and outs|a to z|the way (?:it|"
        r"they|things) (?:is|are)",
        r"alles(?: über| zu| rund um)?|alle[rns]? (?:aspekte|seiten|facetten|gesichtspunkte|dimensionen|fragen|"
        r"informationen)",
        r"(?:einen? )?(?:umfassende[rns]?|vollständige[rns]?|allgemeine[rns]?|komplette[rns]?|ganze[rns]?) "
        r"(?:überblick|übersicht|analyse|bild|darstellung|geschichte|bericht)|(?:ein(?:en)? )?(?:gesamt)?überblick|"
        r"übersicht über",
        r"in jeder hinsicht|und so weiter|alle vor- und nachteile|von a bis z|aus allen blickwinkeln",
        r"tout (?:ce que|sur|savoir)|tous les (?:aspects|angles|détails|avantages)|toutes les (?:facettes|"
        r"dimensions|questions)",
        r"(?:un )?(?:aperçu|panorama|tour d['’]horizon|bilan) (?:complet|général|global)|aperçu|vue d['’]ensemble|"
        r"analyse complète",
        r"todo (?:sobre|lo que|acerca)|todos los (?:aspectos|ángulos|detalles|pros)|todas las (?:facetas|dimensiones)",
        r"(?:una? )?(?:visión|panorama|resumen|análisis) (?:general|completo|completa|global|exhaustivo)",
        r"tutto (?:su|ciò|quello|sul|sulla|sui)|tutti gli aspetti|panoramica|quadro (?:completo|generale)|analisi "
        r"completa",
        r"tudo (?:sobre|o que)|todos os aspe[c]?tos|visão geral|panorama (?:geral|completo)|análise completa",
        r"alles (?:over|wat)|alle aspecten|(?:volledig |algemeen )?overzicht|in alle opzichten",
        r"allt (?:om|som)|alla aspekter|(?:fullständig |allmän )?översikt|helhetsbild",
        "すべて|全て|あらゆる|全体像|概要|網羅|全般|一切|所有方面|全面|方方面面|全部|概述|综述|概况|各个方面|来龙去脉",
        "كل شيء|جميع الجوانب|كل الجوانب|نظرة عامة|شامل|شاملة|كل ما",
    )
)
"""Nothing is left out: the aspects are open."""

TIME_OPEN = union(
    (
        r"(?:the )?(?:history|past|origins?|beginnings?|evolution)(?:,? [\w ]+,)? (?:and|to|or|through) (?:\w+ "
        r")?(?:the )?(?:future|present|today|prospects)",
        r"past, present,? and future|(?:the )?(?:long.term )?future(?: development)? of|(?:the )?history of|for "
        r"all (?:years|time)",
        r"at all times|through(?:out)? (?:the ages|history|time)|where (?:is|are) (?:it|they|this|things)(?: all)? "
        r"(?:heading|going)",
        r"from (?:its|the|their) beginnings?|since the beginning|what (?:does|will) the future",
        r"(?:die )?(?:geschichte|vergangenheit|entwicklung)(?:, gegenwart)? und (?:die )?(?:zukunft|gegenwart)|"
        r"(?:die )?zukunft (?:der|des|von)",
        r"(?:die )?geschichte (?:der|des|von)|zu allen zeiten|von den anfängen",
        r"(?:l['’])?histoire (?:et (?:l['’])?avenir|de|du|des)|(?:le )?passé,? (?:le )?présent et|(?:l['’])?avenir "
        r"(?:de|du|des)",
        r"(?:la )?historia (?:y (?:el )?futuro|de|del)|pasado,? presente y futuro|(?:el )?futuro (?:de|del)",
        r"(?:la )?storia (?:e (?:il )?futuro|di|del|della)|passato,? presente e futuro|(?:il )?futuro (?:di|del|"
        r"della|dei)",
        r"(?:a )?história (?:e (?:o )?futuro|de|do|da)|passado,? presente e futuro|(?:o )?futuro (?:de|do|da)",
        r"(?:de )?geschiedenis (?:en (?:de )?toekomst|van)|verleden,? heden en toekomst|(?:de )?toekomst van",
        r"(?:historia|historien) (?:och framtid|om|för)|(?:dåtid|förflutna),? nutid och framtid|framtiden för",
        "歴史と未来|過去と未来|過去・現在・未来|の将来|の未来|の歴史|历史与未来|历史和未来|过去、现在和未来|的未来|未来的?发展|的历史",
        "تاريخ ومستقبل|الماضي والحاضر|مستقبل|تاريخ",
    )
)
"""No end of time: past and future are both meant."""

PLACE_OPEN = union(
    (
        r"worldwide|around the (?:world|globe)|globally|across the (?:world|globe)|in (?:all|every) (?:countr(?:y|"
        r"ies)|regions?|places?)|everywhere",
        r"weltweit|in allen ländern|überall|dans le monde(?: entier)?|partout|dans tous les pays",
        r"en todo el mundo|en todos los países|nel mondo|in tutti i paesi|no mundo(?: inteiro)?|em todos os países",
        r"wereldwijd|in alle landen|överallt|i hela världen|i alla länder",
        "世界中|世界各地|全世界|各国|全球|世界范围|في العالم|حول العالم|جميع الدول",
    )
)

EFFECT = union(
    (
        r"affects?|affected|influences?|influenced|impacts?|shapes?|shaped|changes?|changed|transforms?|"
        r"transformed|mean for",
        r"(?:effects?|impacts?|influence|consequences|implications|role|importance) (?:of|on|for|in)",
        r"beeinflusst|beeinflussen|verändert|verändern|prägt|prägen|wirkt|wirken|auswirkungen|folgen|einfluss|bedeutet",
        r"affecte(?:nt)?|influence(?:nt)?|transforme(?:nt)?|change(?:nt)?|effets?|conséquences|impact",
        r"afecta[n]?|influye[n]?|cambia[n]?|transforma[n]?|efectos?|impacto|consecuencias",
        r"influenza(?:no)?|effetti|impatto|conseguenze|afeta[m]?|influencia[m]?|efeitos|consequências",
        r"beïnvloedt|beïnvloeden|verandert|gevolgen|invloed|påverkar|förändrar|effekter|följder",
        "影響|影响|変え|改变|作用|效果|يؤثر|تؤثر|تأثير|آثار",
    )
)
COLLECTIVE = union(
    (
        r"society|societies|people(?:'s lives)?|the way (?:we|people|humans) (?:live|work|think)|humanity|mankind|"
        r"civili[sz]ation|culture",
        r"(?:the|our) (?:world|planet|economy|environment|lives|life|future)|everyone|everybody|us all|communities|"
        r"nature|politics",
        r"gesellschaft(?:en)?|menschen|menschheit|die welt|unser leben|kultur|umwelt|wirtschaft|politik",
        r"(?:la )?société|les gens|l['’]humanité|le monde|nos vies|la culture|l['’]environnement|l['’]économie|la "
        r"politique",
        r"(?:la )?sociedad|la gente|las personas|la humanidad|el mundo|nuestras vidas|la cultura|el medio ambiente|"
        r"la economía",
        r"(?:la )?società|la gente|l['’]umanità|il mondo|la cultura|l['’]ambiente|a sociedade|as pessoas|o mundo|o "
        r"ambiente",
        r"(?:de )?samenleving|maatschappij|mensen|de wereld|samhället|människor|världen|miljön",
        "社会|人々|人類|世界|暮らし|文化|人们|人类|生活|المجتمع|الناس|العالم|الإنسان|الحياة",
    )
)
"""Whom or what an effect may be on when nobody in particular is meant."""
ADVICE_OPEN = union(
    (
        r"what should (?:we|one|people|society|the world|governments?|i) do (?:about|with|for)",
        r"how (?:can|could|should|do) (?:we|one|society|the world|all of it) ",
        r"was (?:sollen|sollten|müssen) wir|wie können wir|que (?:devons|faut|doit)[- ]|comment pouvons|qué "
        r"debemos|cómo podemos",
    )
)
TELL_ABOUT = union(
    (
        r"tell me (?:more )?about|talk about|write about|report on|what do you know about|what about|information "
        r"(?:on|about)|look into",
        r"(?:research|explore|investigate|analy[sz]e|discuss|describe|evaluate|review|explain)",
        r"erzähle? mir (?:etwas |mehr )?(?:über|von)|informationen (?:über|zu)|recherchiere|analysiere|beschreibe|"
        r"untersuche|bewerte",
        r"parle[rz]?-moi d|que (?:sais|savez)|informations sur|analyse[rz]?|décri(?:s|vez)|étudie[rz]?",
        r"háblame de|qué sabes (?:de|sobre)|información sobre|analiza|describe|investiga",
        r"parlami d|informazioni su|fale-me|informações sobre|vertel me (?:over|meer)|informatie over|berätta om",
        "について教えて|について調べて|について|介绍一下|介绍|研究一下|عن",
    )
)
"""Openings that name a topic and ask nothing about it."""
EVALUATIVE = union(
    (
        r"good|bad|better|best|worse|worst|worth|any good|successful|pros and cons|sustainable|important|useful|"
        r"effective",
        r"gut|schlecht|besser|beste[rns]?|lohnt|sinnvoll|wichtig|bon(?:ne)?s?|mauvaise?s?|meilleure?s?|mieux|utile",
        r"buen[oa]s?|mal[oa]s?|mejor(?:es)?|peor(?:es)?|útil|buon[oaie]|miglior[ei]|bom|boa|melhor|goed|slecht|"
        r"beter|bra|bättre",
        "良い|悪い|最高|好|坏|更好|最好|جيد|أفضل",
    )
)

REASON = union(
    (
        r"why|what (?:explains?|caused?|causes|led to|drove|drives|hinders?|prevents?|keeps?)|reasons?|causes?|"
        r"because of what|how come",
        r"warum|weshalb|wieso|gründe?|ursachen?|pourquoi|raisons?|por qué|razones|causas?|perché|cause|por que|"
        r"razões|waarom|varför",
        "なぜ|理由|原因|为什么|为何|لماذا|سبب|أسباب",
    )
)
MANNER = union(
    (
        r"how(?! many| much| old| often)|wie(?! viele?| alt| oft| hoch| groß| lang)|comment|cómo|come|como|hoe|hur",
        "どのよう|どう|如何|怎么|怎样|كيف",
    )
)
QUANTITY = union(
    (
        r"how (?:many|much|large|big|high|old|long|often|far|fast|tall|deep|heavy|punctual|noisy)|what (?:share|"
        r"percentage|proportion|fraction|number|rate)",
        r"costs?|prices?|rates?|figures?|numbers?|share|percentage|per (?:cent|year|capita|person|head|"
        r"day|unit)|average|mean|amount|total",
        r"wie ?viele?|wie (?:hoch|groß|lang|oft|alt|weit)|anteil|kosten?|preise?|zahl(?:en)?|menge|"
        r"durchschnitt(?:lich)?|prozent",
        r"combien|quel(?:le)? (?:part|proportion|pourcentage)|coûts?|prix|taux|nombre|moyenne",
        r"cuánt[oa]s?|qué (?:parte|porcentaje|proporción)|costes?|costos?|precios?|tasas?|número|promedio",
        r"quant[oaie]|quota|costi?|prezz[oi]|tass[oi]|numero|quant[oa]s|custos?|preços?|taxas?|hoeveel|aandeel|"
        r"kosten|prijs|hur (?:många|mycket)|andel|kostnad",
        "いくつ|何人|何件|割合|費用|価格|率|多少|几个|比例|费用|价格|率|كم|نسبة|تكلفة|عدد",
    )
)
TIME_ASKED = union(
    (
        r"when|(?:what|which) (?:year|date|month|day|time|month and year|decade|century)|how long ago|since when",
        r"wann|welche[mns]? (?:jahr|monat|tag|datum|jahrzehnt)|um wie ?viel uhr|seit wann|quand|quelle (?:année|"
        r"date|heure)|quel (?:mois|jour)",
        r"cuándo|qué (?:año|mes|fecha|hora|día)|quando|che anno|quale anno|que ano|welk jaar|wanneer|när|vilket år",
        "いつ|何年|何月|何時|何时|什么时候|哪一年|几点|متى|أي عام|أي سنة",
    )
)
LATEST = union(
    (
        r"latest|newest|most recent|recent(?:ly)?|current(?:ly)?|today|now|up to date|this year|as of",
        r"neue(?:ste|sten)[rnsm]?|aktuell(?:e[rns]?)?|heute|derzeit|jüngste[rns]?|dernier(?:s|e|es)?|récents?|"
        r"récentes?|actuel(?:le)?s?",
        r"últim[oa]s?|recientes?|actual(?:es|mente)?|hoy|ultim[oaie]|recent[ei]|attuale|laatste|recent|huidige|"
        r"senaste|aktuell",
        "最新|現在|最近|目前|当前|今年|أحدث|حاليا|اليوم",
    )
)
COMPARES = union(
    (
        r"compare[ds]?|comparing|comparison|contrast|versus|vs\.?|compared (?:with|to)|difference[s]? between|"
        r"differs? (?:between|from)|better than|rather than",
        r"vergleich(?:e|en|t)?|im vergleich|unterschiede? zwischen|unterscheide[nt]|gegenüber|besser als",
        r"compare[rz]?|comparaison|comparé|différences? entre|par rapport|compara[r]?|comparación|diferencias? "
        r"entre|frente a",
        r"confronta|confronto|rispetto a|differenz[ae] tra|compare|comparação|diferenças? entre|vergelijk|verschil "
        r"tussen|jämför|skillnad mellan",
        "比較|比べ|違い|比较|对比|区别|差异|قارن|مقارنة|الفرق بين",
    )
)

LOOKUP = re.compile(
    r"^\s*(?:(?:and|also|please|bitte|por favor)[, ]+)?[¿¡]?(?:"
    r"(?:in|on|at|by|since|until|from|for)?\s*(?:what|which) (?:exact )?(?:year|month|date|day|time|hour|month and "
    r"year|day and month|decade|century|"
    r"country|city|town|person|company|team|language|position|address|number)\b"
    r"|when\b|since when\b|until when\b|where\b|who(?:m|se)?\b|how (?:many|old|tall|long|high|far|often|large|big|"
    r"deep|much)\b"
    r"|what (?:is|are|was|were|does|did|share|percentage|proportion|number)\b|what's\b"
    r"|(?:in|an|am|seit|bis|um|ab)?\s*(?:welche[mnrs]?) (?:jahr|monat|tag|datum|uhrzeit|land|stadt|ort|firma)\b"
    r"|um wie ?viel uhr\b|wann\b|seit wann\b|wo\b|wer\b|wem\b|wie ?viele?\b|wie (?:alt|hoch|groß|lang|lange|oft|"
    r"weit|heißt|schnell)\b|was (?:ist|war|kostet|heißt)\b"
    r"|(?:en|à|depuis|dans)?\s*quel(?:le)? (?:année|mois|date|heure|jour|pays|ville)\b|quand\b|combien\b|qui\b|"
    r"où\b|quel(?:le)? (?:est|était|fut)\b|qu['’]est-ce\b"
    r"|(?:en|a|desde)?\s*qué (?:año|mes|fecha|hora|día|país|ciudad)\b|cuándo\b|cuánt[oa]s?\b|quién(?:es)?\b|"
    r"dónde\b|cuál (?:es|era|fue)\b|qué es\b"
    r"|in (?:che|quale) (?:anno|mese)\b|quando\b|quant[ieo]\b|quante\b|chi\b|dove\b|qual è\b|em que (?:ano|mês)\b|"
    r"quant[oa]s\b|quem\b|onde\b|qual (?:é|foi)\b"
    r"|in welke? (?:jaar|maand)\b|wanneer\b|hoeveel\b|wie\b|waar\b|hoe (?:oud|hoog|groot|lang|ver)\b|vilket år\b|"
    r"när\b|hur (?:många|gammal|lång|hög|stor)\b|vem\b|var\b"
    r"|متى|كم|أين|من هو|من هي|في أي (?:عام|سنة|شهر)"
    r")",
    re.IGNORECASE,
)
LOOKUP_SPACELESS = re.compile(
    r"いつ|何年|何月|何人|何時|何件|いくつ|誰が|どこ|何时|什么时候|哪一年|多少|几点|几个|谁|在哪"
)
EXPECTS_ONE_POINT = re.compile(
    r"^\s*[¿¡]?(?:how (?:much|large|big|high|long|deep)|what (?:is|are|was|were|does|did|share|percentage|"
    r"proportion)|what's|who\b|"
    r"combien|wie ?viel\b|wie (?:hoch|groß|lang)|was (?:ist|war|kostet)|quel(?:le)? (?:est|était|fut)|cuánt[oa]\b|"
    r"cuál|quanto\b|qual|hoeveel|hur)",
    re.IGNORECASE,
)
"""A lookup only when a name or a date pins it down."""
DEVELOPMENT = union(
    (
        r"change[ds]?|develop(?:ed|ment)?|evolve[ds]?|differ(?:s|ed|ence|ent)?|vary|varies|trend|respond(?:ed)?|"
        r"affect(?:ed)?|justify|justified|work(?:ed)?|options?|reforms?|effects?",
        r"known|say|says|said|think|arguments?|proposed|criticism|criticisms|evidence|lessons?|conditions?|"
        r"challenges?|problems?",
        r"verändert|entwickelt|entwicklung|unterscheid\w+|évolu\w+|chang\w+|diffèr\w+|cambi\w+|evolucion\w+|"
        r"diferenci\w+|folgen|effets|efectos",
        "変化|推移|課題|変わ|变化|发展|差异|影响|问题|تغير|تطور|يختلف",
    )
)
"""What is no single fact."""

UNITS = union(
    (
        r"years?|months?|weeks?|days?|hours?|minutes?|met(?:er|re)s?|kilomet(?:er|re)s?|acres?|tonnes?|tons?|"
        r"grams?|kilograms?|percent|per cent|number|total|figure",
        r"jahre?n?|monate?|tage?n?|stunden?|minuten?|meter|kilometer|tonnen?|gramm|prozent|zahl|ans?|"
        r"années?|mois|jours?|heures?|años?|meses|días?|horas?",
    )
)
"""Words of measuring: no themes of their own."""

SEPARATE = re.compile(
    r"(?:^|(?<=[.;,:?!。？！]))\s*(?:and|but|und|et|y|e|en|och)?\s*,?\s*(?:"
    r"(?:quite |entirely |and )?separately|as a (?:second|third|further|separate|another)(?:, \w+)? (?:question|"
    r"matter|topic|point)|"
    r"as a question (?:of|on) its own|a separate (?:question|matter|issue|topic)|another (?:question|matter|"
    r"topic)(?: is)?|"
    r"(?:completely |entirely )?independent(?:ly)? (?:of|from) (?:this|that|it)|unrelated(?:ly)?(?: to (?:this|that))?|"
    r"also(?:, (?:unrelated|separately|independently)(?: (?:to|of|from) (?:this|that|it))?)?|in addition|"
    r"additionally|furthermore|besides(?: that)?|on another (?:note|topic)|"
    r"i(?:'d| would)? also (?:want|like|need|wish) to (?:know|ask|learn|understand)|"
    r"(?:the )?(?:first|second|third|fourth|fifth|finally|lastly)(?:ly)?(?: question)?|"
    r"außerdem|unabhängig davon|getrennt davon|davon unabhängig|zusätzlich|ferner|erstens|zweitens|drittens|eine "
    r"(?:zweite|andere|weitere) frage|separat|"
    r"par ailleurs|séparément|en outre|de plus|indépendamment|premièrement|deuxièmement|troisièmement|une autre "
    r"question|"
    r"además|por separado|aparte de eso|independientemente|en (?:primer|segundo|tercer) lugar|otra pregunta|"
    r"también quiero saber|"
    r"inoltre|separatamente|un'altra domanda|além disso|separadamente|outra pergunta|daarnaast|los daarvan|apart "
    r"daarvan|een andere vraag|"
    r"dessutom|separat|oberoende av det|en annan fråga|كذلك|بالإضافة إلى ذلك|سؤال آخر|وبشكل منفصل"
    r")(?!\w)\s*[,:.–-]?\s*|(?:別の質問|それとは別に|もう一つ)(?:として|ですが)?[、,:：]?|(?:另外|此外|还有一个问题|另一个问题)[，,:：]?",
    re.IGNORECASE,
)
"""What separates one question from the next."""

ANAPHOR = union(
    (
        r"it|they|them|that|these|those|this|there|each other|which of (?:them|these|those)|both|the same|the "
        r"former|the latter|so|thereby",
        r"sie|ihn|ihm|ihnen|dies(?:e[rsnm]?)?|davon|dafür|dazu|daran|darauf|dabei|voneinander|beide[rns]?|deren|"
        r"dessen|es",
        r"ils?|elles?|cela|ça|ceux-ci|celles-ci|celui-ci|en|y|ellos|ellas|ello|eso|esto|éstos|éstas|essi|esse|ciò|"
        r"questo|eles|elas|isso|isto",
        r"het|dit|deze|ervan|hun|den|det|dessa|dem|därav",
        "それ|その|これ|この|彼ら|它|它们|其|这|那|他们|ذلك|هذا|هذه|تلك|منها",
    )
)
"""A clause that holds one of these leans on the clause before."""
REFERS_BACK = union(
    (
        r"(?:the )?(?:published|reported|known|available|given|measured|different|these|stated|existing)? "
        r"?(?:figures|numbers|values|estimates|results|rates|surveys|studies|sources|gap|spread|differences?|trend|"
        r"reasons?|effects?|consequences|measures|countermeasures|reforms|remedies|evidence|findings|explanation)",
        r"(?:die |den )?(?:veröffentlichten |gemeldeten )?(?:zahlen|werte|raten|angaben|ergebnisse|quellen|gründe|"
        r"unterschiede?|folgen|maßnahmen|abweichung(?:en)?)",
        r"(?:les )?(?:chiffres|valeurs|estimations|résultats|sources|écarts?|différences?|raisons|effets|mesures)",
        r"(?:las |los )?(?:cifras|valores|estimaciones|resultados|fuentes|diferencias?|razones|efectos|medidas)",
    )
)
POSSESSIVE = re.compile(r"\b(its|their|his|her)\b", re.IGNORECASE)
