"""The engine's own sentences in German. They are no prompts: no model reads them."""

from collections.abc import Mapping

GERMAN: Mapping[str, str] = {
    "quotes_only": (
        "Es ist kein Sprachmodell eingerichtet: Die Offline-Engine zitiert Quellen und belegt sie; sie folgert und "
        "umschreibt nicht."
    ),
    "small_enough": "Das ist klein genug, so wie es ist.",
    "small_enough_many": "Ich lese darin {n} getrennte Fragen. Jede ist klein genug, so wie sie ist.",
    "some_ready": "Ich lese darin {n} getrennte Fragen. Bereit: {ready}. Noch zu weit: {open}.",
    "lookup": "Einmal nachschlagen beantwortet das. Ich würde zwei oder drei Quellen lesen, etwa eine Minute.",
    "lookup_reason": "Eine einzelne Tatsache: Ein Blatt genügt, ein Forschungsbaum ist nicht nötig.",
    "feasible_reason": (
        "Zerfällt in {leaves} Blätter auf {levels} Executor-{level_word}; {max_leaves} Blätter und {max_depth} "
        "Ebenen sind die Grenze."
    ),
    "feasible_reason_one": "Ein Blatt auf einer Executor-Ebene genügt.",
    "too_broad_reason": (
        "Bräuchte {leaves} Blätter auf {levels} Executor-{level_word}; {max_leaves} und {max_depth} sind die Grenze. "
        "Offen bleibt: {points}."
    ),
    "too_wide_reason": (
        "Nennt so viele Teile, dass {leaves} Blätter auf {levels} Executor-{level_word} nötig wären; {max_leaves} "
        "und {max_depth} sind die Grenze."
    ),
    "cannot_yet": "Als eine einzige Frage kann ich das noch nicht gut untersuchen.",
    "cannot_yet_part": "„{query}“ kann ich als eine einzige Frage noch nicht gut untersuchen.",
    "leaves_open_1": "Eines lässt sie zu offen:",
    "leaves_open_2": "Zwei Dinge lassen sie zu offen:",
    "leaves_open_3": "Drei Dinge lassen sie zu offen:",
    "tree_size": (
        "So entworfen bräuchte sie {leaves} Blätter auf {levels} {level_word}; {max_leaves} und {max_depth} sind die "
        "Grenze."
    ),
    "versions": (
        "Hier sind {n} Fassungen, mit denen ich anfangen könnte. Wählen Sie nach Nummer oder in Worten; jede wird "
        "eine eigene Frage."
    ),
    "point_scope": "**Umfang.** Kein Aspekt ist genannt. {detail}",
    "detail_themes": "Die passenden Dokumente handeln unter anderem von {themes}; jedes ist eine eigene Frage.",
    "detail_none": (
        "Was geschah, weshalb, zu welchen Kosten und mit welchem Ergebnis sind verschiedene Fragen mit verschiedenen "
        "Belegen."
    ),
    "point_parts": "**Umfang.** Sie nennt {n} Teile auf einmal; jeder hat eigene Belege.",
    "point_period": (
        "**Zeitraum.** Es sind keine Jahre genannt, also sind Vergangenheit, Gegenwart und Zukunft gemeint. {detail}"
    ),
    "detail_dates": "Die Dokumente reichen von {first} bis {last}.",
    "detail_no_dates": "Eine Spanne von Jahren würde genügen.",
    "point_place": "**Ort.** Sie umfasst alle Länder; welches, oder welche wenigen?",
    "point_population": "**Gruppe.** „{term}“ ist niemand Bestimmtes: Um wen soll es gehen?",
    "point_comparison": "**Vergleich.** „{term}“ verglichen womit, und woran gemessen?",
    "point_terms": "**Begriffe.** „{term}“ kann vieles heißen; welche messbare Wirkung ist gemeint?",
    "name_scope": "Aspekt",
    "name_period": "Zeitraum",
    "name_place": "Ort",
    "name_population": "Gruppe",
    "name_comparison": "Vergleich",
    "name_terms": "was „{term}“ heißt",
    "ask_scope": "Welcher Aspekt ist Ihnen am wichtigsten?",
    "ask_period": "Welche Jahre soll sie umfassen?",
    "ask_place": "Welchen Ort oder welche Orte soll sie umfassen?",
    "ask_population": "Um wen soll es gehen?",
    "ask_comparison": "Verglichen womit, und an welchem Maß?",
    "ask_terms": "Welche Wirkung meinen Sie mit „{term}“?",
    "ask_pick": "Welche der Fassungen soll ich nehmen?",
    "nothing_matches": (
        "Die Dokumente, die ich durchsuchen kann, enthalten dazu wenig oder nichts; der Lauf findet vielleicht nichts."
    ),
    "nothing_matches_many": (
        "Zu {which} enthalten die Dokumente, die ich durchsuchen kann, wenig oder nichts; dort findet der Lauf "
        "vielleicht nichts."
    ),
    "caution": (
        "Das berührt medizinische, rechtliche oder finanzielle Fragen: Der Bericht zeigt, was Quellen sagen; er ist "
        "kein persönlicher Rat."
    ),
    "greeting": (
        "Guten Tag. Fragen Sie etwas, das Dokumente beantworten können, so weit Sie mögen; wir grenzen es gemeinsam "
        "ein, und nichts beginnt, bevor Sie es sagen."
    ),
    "ask_question": "Was möchten Sie herausfinden?",
    "no_question": "Darin finde ich keine Frage. Was möchten Sie herausfinden?",
    "taken": "Übernommen.",
    "dropped": "Gestrichen: „{query}“.",
    "added": "Ergänzt.",
    "narrowed": "Eingegrenzt.",
    "settled_period": "Damit steht der Zeitraum fest.",
    "nothing_left": "Keine Frage ist übrig. Was möchten Sie herausfinden?",
    "which_one": "Welche meinen Sie? Nennen Sie mir die Nummer.",
    "still_open": "Ich brauche noch eine engere Frage, bevor ich einen Plan entwerfen kann.",
    "not_there": "Eine Nummer {number} steht nicht zur Wahl.",
    "plan_below": "Der Planentwurf steht unten; nichts hat begonnen.",
    "agree_ready": "Dann bleibt es so.",
    "suggest_known": "{theme} und {subject}: Was ist bekannt, und wo widersprechen sich die Quellen?",
    "suggest_period": "{theme} und {subject}: Was hat sich zwischen {first} und {last} verändert, und weshalb?",
    "suggest_why": "{theme} und {subject}: Welche Zahlen nennen die Quellen, und weshalb weichen sie voneinander ab?",
    "suggest_measure": "{theme} und {subject}: Welche Maßnahmen werden beschrieben, und wie gut haben sie gewirkt?",
    "suggest_one": "Welche Zahlen nennen die Quellen zu {theme} im Zusammenhang mit {subject}?",
    "merge_only": "{question} (nur {limit})",
    "merge_aspect": "{theme} und {subject}: Was ist bekannt, und wo widersprechen sich die Quellen?",
    "merge_aspect_period": (
        "{theme} und {subject}, {first} bis {last}: Was ist bekannt, und wo widersprechen sich die Quellen?"
    ),
    "merge_subject": "{theme}: Was ist bekannt, und wo widersprechen sich die Quellen?",
    "limits_title": "Grenzen und Einwände",
    "limits_question": "Welche Grenzen, Zweifel oder gegenteiligen Befunde werden genannt: {question}",
    "claim_figure": "{question} Die Quellen nennen eine Zahl.",
    "claim_reason": "{question} Die Quellen nennen eine Ursache.",
    "claim_agree": "{question} Unabhängige Quellen geben dieselbe Antwort.",
    "claim_answer": "{question} Die Quellen geben eine Antwort.",
    "item_title": "{item}: {label}",
    "agree_2": "Zwei Quellen stimmen darin überein.",
    "agree_3": "Drei Quellen stimmen darin überein.",
    "agree_n": "{n} Quellen stimmen darin überein.",
    "differ": (
        "Die Quellen weichen voneinander ab: “{one}” ({one_source}){one_mark}, dagegen “{other}” "
        "({other_source}){other_mark}."
    ),
    "differ_third": "Eine weitere Zahl: “{one}” ({one_source}){one_mark}.",
    "older": (
        "Eine ältere Zahl: “{one}” ({one_source}){one_mark}. Sie ist inzwischen ersetzt: “{other}” "
        "({other_source}){other_mark}."
    ),
    "newest": "Am neuesten: “{one}” ({one_source}){one_mark}.",
    "table_head": "Verglichen",
    "limits": "Grenzen, die die Quellen selbst nennen:",
    "unanswered": "Keine gelesene Quelle beantwortet: {question}",
    "degraded": "Die Suche war eingeschränkt; die Antwort beruht auf unvollständigen Informationen.",
    "insight_agree": "Hier stimmen unabhängige Quellen überein: “{one}”{marks}.",
    "outlier": "Eine Zahl fällt heraus: “{one}” ({one_source}){one_mark}.",
    "no_reconcile": "Die Quellen sagen nichts dazu.",
    "why_differ": "Weshalb die Zahlen abweichen: “{one}”{one_mark}.",
}
