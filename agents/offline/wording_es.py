"""The engine's own sentences in Spanish. They are no prompts: no model reads them."""

from collections.abc import Mapping

SPANISH: Mapping[str, str] = {
    "quotes_only": (
        "No hay ningún modelo de lenguaje configurado: el motor sin conexión cita fuentes y las referencia; no "
        "razona ni parafrasea."
    ),
    "small_enough": "Es lo bastante pequeña tal como está.",
    "small_enough_many": "Leo ahí {n} preguntas distintas. Cada una es lo bastante pequeña tal como está.",
    "some_ready": "Leo ahí {n} preguntas distintas. Listas: {ready}. Aún demasiado amplias: {open}.",
    "lookup": "Basta una consulta. Leería dos o tres fuentes, alrededor de un minuto.",
    "lookup_reason": "Un solo dato: basta una hoja, sin árbol de investigación.",
    "feasible_reason": (
        "Se divide en {leaves} hojas en {levels} {level_word} de ejecutores; {max_leaves} hojas y {max_depth} "
        "niveles son el límite."
    ),
    "feasible_reason_one": "Basta una hoja en un solo nivel.",
    "too_broad_reason": (
        "Necesitaría {leaves} hojas en {levels} {level_word} de ejecutores; el límite es {max_leaves} y {max_depth}. "
        "Queda abierto: {points}."
    ),
    "too_wide_reason": (
        "Nombra tantas partes que necesitaría {leaves} hojas en {levels} {level_word} de ejecutores; el límite es "
        "{max_leaves} y {max_depth}."
    ),
    "cannot_yet": "Todavía no puedo investigar bien eso como una sola pregunta.",
    "cannot_yet_part": "Todavía no puedo investigar bien «{query}» como una sola pregunta.",
    "leaves_open_1": "Una cosa la deja demasiado abierta:",
    "leaves_open_2": "Dos cosas la dejan demasiado abierta:",
    "leaves_open_3": "Tres cosas la dejan demasiado abierta:",
    "tree_size": (
        "Tal como está, necesitaría {leaves} hojas en {levels} {level_word}; el límite es {max_leaves} y {max_depth}."
    ),
    "versions": (
        "Estas son {n} versiones con las que podría empezar. Elija por número o con palabras; cada una será una "
        "pregunta propia."
    ),
    "point_scope": "**Alcance.** No nombra ningún aspecto. {detail}",
    "detail_themes": (
        "Los documentos que coinciden hablan, entre otras cosas, de {themes}; cada una es una pregunta propia."
    ),
    "detail_none": "Qué pasó, por qué, a qué coste y con qué resultado son preguntas distintas, con pruebas distintas.",
    "point_parts": "**Alcance.** Nombra {n} partes a la vez; cada una tiene sus propias pruebas.",
    "point_period": "**Período.** No nombra años, así que se refiere a pasado, presente y futuro. {detail}",
    "detail_dates": "Los documentos van de {first} a {last}.",
    "detail_no_dates": "Bastaría con unos años concretos.",
    "point_place": "**Lugar.** Abarca todos los países; ¿cuál, o cuáles?",
    "point_population": "**Población.** «{term}» no es nadie en particular: ¿de quién se trata?",
    "point_comparison": "**Comparación.** «{term}» comparado con qué, y según qué medida?",
    "point_terms": "**Términos.** «{term}» puede querer decir muchas cosas; ¿qué efecto medible se busca?",
    "name_scope": "aspecto",
    "name_period": "período",
    "name_place": "lugar",
    "name_population": "población",
    "name_comparison": "comparación",
    "name_terms": "qué significa «{term}»",
    "ask_scope": "¿Qué aspecto le importa más?",
    "ask_period": "¿Qué años debe abarcar?",
    "ask_place": "¿Qué lugar o lugares debe abarcar?",
    "ask_population": "¿De quién se trata?",
    "ask_comparison": "¿Comparado con qué, y según qué medida?",
    "ask_terms": "¿A qué efecto se refiere con «{term}»?",
    "ask_pick": "¿Cuál de las versiones tomo?",
    "nothing_matches": (
        "Los documentos que puedo consultar dicen poco o nada sobre esto; puede que no se encuentre nada."
    ),
    "nothing_matches_many": (
        "Sobre {which}, los documentos que puedo consultar dicen poco o nada; puede que ahí no se encuentre nada."
    ),
    "caution": (
        "Esto toca asuntos médicos, legales o financieros: el informe mostrará lo que dicen las fuentes, no es un "
        "consejo personal."
    ),
    "greeting": (
        "Hola. Pregunte algo que los documentos puedan responder, tan amplio como quiera; lo acotamos juntos y nada "
        "empieza hasta que usted lo diga."
    ),
    "ask_question": "¿Qué quiere averiguar?",
    "no_question": "No encuentro ninguna pregunta en eso. ¿Qué quiere averiguar?",
    "taken": "Tomado.",
    "dropped": "Retirada: «{query}».",
    "added": "Añadida.",
    "narrowed": "Acotada.",
    "settled_period": "Con eso queda fijado el período.",
    "nothing_left": "No queda ninguna pregunta. ¿Qué quiere averiguar?",
    "which_one": "¿Cuál de ellas? Deme el número.",
    "still_open": "Aún necesito una pregunta más estrecha para esbozar un plan.",
    "not_there": "No hay un número {number} para elegir.",
    "plan_below": "El borrador del plan está abajo; nada ha empezado.",
    "agree_ready": "Entonces queda así.",
    "suggest_known": "{theme} y {subject}: ¿qué se sabe, y dónde discrepan las fuentes?",
    "suggest_period": "{theme} y {subject}: ¿qué cambió entre {first} y {last}, y por qué?",
    "suggest_why": "{theme} y {subject}: ¿qué cifras dan las fuentes, y por qué difieren?",
    "suggest_measure": "{theme} y {subject}: ¿qué medidas se describen, y cómo funcionaron?",
    "suggest_one": "¿Qué cifras dan las fuentes sobre {theme} en relación con {subject}?",
    "merge_only": "{question} (solo {limit})",
    "merge_aspect": "{theme} y {subject}: ¿qué se sabe, y dónde discrepan las fuentes?",
    "merge_aspect_period": "{theme} y {subject}, {first} a {last}: ¿qué se sabe, y dónde discrepan las fuentes?",
    "merge_subject": "{theme}: ¿qué se sabe, y dónde discrepan las fuentes?",
    "limits_title": "Límites y objeciones",
    "limits_question": "¿Qué límites, dudas o hallazgos contrarios se indican? {question}",
    "claim_figure": "{question} Las fuentes dan una cifra.",
    "claim_reason": "{question} Las fuentes nombran una causa.",
    "claim_agree": "{question} Fuentes independientes coinciden en la respuesta.",
    "claim_answer": "{question} Las fuentes dan una respuesta.",
    "item_title": "{item}: {label}",
    "agree_2": "Dos fuentes coinciden en esto.",
    "agree_3": "Tres fuentes coinciden en esto.",
    "agree_n": "{n} fuentes coinciden en esto.",
    "differ": "Las fuentes discrepan: “{one}” ({one_source}){one_mark}, pero “{other}” ({other_source}){other_mark}.",
    "differ_third": "Otra cifra: “{one}” ({one_source}){one_mark}.",
    "older": (
        "Una cifra más antigua: “{one}” ({one_source}){one_mark}. Ha sido sustituida: “{other}” "
        "({other_source}){other_mark}."
    ),
    "newest": "Lo más reciente: “{one}” ({one_source}){one_mark}.",
    "table_head": "Comparado",
    "limits": "Límites que indican las propias fuentes:",
    "unanswered": "Ninguna fuente leída responde a: {question}",
    "degraded": "La búsqueda estuvo limitada; la respuesta se basa en información parcial.",
    "insight_agree": "Aquí coinciden fuentes independientes: “{one}”{marks}.",
    "outlier": "Una cifra se aparta: “{one}” ({one_source}){one_mark}.",
    "no_reconcile": "Las fuentes no dicen cuál es la válida.",
    "why_differ": "Por qué difieren las cifras: “{one}”{one_mark}.",
}
