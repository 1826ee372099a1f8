"""The engine's own sentences in French. They are no prompts: no model reads them."""

from collections.abc import Mapping

FRENCH: Mapping[str, str] = {
    "quotes_only": (
        "Aucun modèle de langue n'est configuré : le moteur hors ligne cite les sources et les référence ; il ne "
        "raisonne pas et ne reformule pas."
    ),
    "small_enough": "C'est assez restreint tel quel.",
    "small_enough_many": "J'y lis {n} questions distinctes. Chacune est assez restreinte telle quelle.",
    "some_ready": "J'y lis {n} questions distinctes. Prêtes : {ready}. Encore trop larges : {open}.",
    "lookup": "Une seule consultation suffit. Je lirais deux ou trois sources, environ une minute.",
    "lookup_reason": "Un fait isolé : une feuille suffit, sans arbre de recherche.",
    "feasible_reason": (
        "Se divise en {leaves} feuilles sur {levels} {level_word} d'exécuteurs ; {max_leaves} feuilles et "
        "{max_depth} niveaux sont la limite."
    ),
    "feasible_reason_one": "Une feuille sur un seul niveau suffit.",
    "too_broad_reason": (
        "Il faudrait {leaves} feuilles sur {levels} {level_word} d'exécuteurs ; la limite est de {max_leaves} et "
        "{max_depth}. Reste ouvert : {points}."
    ),
    "too_wide_reason": (
        "Elle nomme tant de parties qu'il faudrait {leaves} feuilles sur {levels} {level_word} d'exécuteurs ; la "
        "limite est de {max_leaves} et {max_depth}."
    ),
    "cannot_yet": "Je ne peux pas encore bien traiter cela comme une seule question.",
    "cannot_yet_part": "Je ne peux pas encore bien traiter « {query} » comme une seule question.",
    "leaves_open_1": "Une chose la laisse trop ouverte :",
    "leaves_open_2": "Deux choses la laissent trop ouverte :",
    "leaves_open_3": "Trois choses la laissent trop ouverte :",
    "tree_size": (
        "Telle quelle, il faudrait {leaves} feuilles sur {levels} {level_word} ; la limite est de {max_leaves} et "
        "{max_depth}."
    ),
    "versions": (
        "Voici {n} versions par lesquelles commencer. Choisissez par numéro ou en mots ; chacune devient une "
        "question à part."
    ),
    "point_scope": "**Portée.** Aucun aspect n'est nommé. {detail}",
    "detail_themes": "Les documents correspondants parlent entre autres de {themes} ; chacun est une question à part.",
    "detail_none": (
        "Ce qui s'est passé, pourquoi, à quel coût et avec quel résultat sont des questions distinctes, aux preuves "
        "différentes."
    ),
    "point_parts": "**Portée.** Elle nomme {n} parties à la fois ; chacune a ses propres preuves.",
    "point_period": "**Période.** Aucune année n'est nommée : passé, présent et avenir sont donc visés. {detail}",
    "detail_dates": "Les documents vont de {first} à {last}.",
    "detail_no_dates": "Quelques années précises suffiraient.",
    "point_place": "**Lieu.** Elle couvre tous les pays ; lequel, ou lesquels ?",
    "point_population": "**Population.** « {term} » ne désigne personne en particulier : de qui s'agit-il ?",
    "point_comparison": "**Comparaison.** « {term} » par rapport à quoi, et selon quelle mesure ?",
    "point_terms": "**Termes.** « {term} » peut vouloir dire bien des choses ; quel effet mesurable est visé ?",
    "name_scope": "aspect",
    "name_period": "période",
    "name_place": "lieu",
    "name_population": "population",
    "name_comparison": "comparaison",
    "name_terms": "le sens de « {term} »",
    "ask_scope": "Quel aspect compte le plus pour vous ?",
    "ask_period": "Quelles années doit-elle couvrir ?",
    "ask_place": "Quel lieu ou quels lieux doit-elle couvrir ?",
    "ask_population": "De qui s'agit-il ?",
    "ask_comparison": "Par rapport à quoi, et selon quelle mesure ?",
    "ask_terms": "Quel effet entendez-vous par « {term} » ?",
    "ask_pick": "Laquelle des versions dois-je prendre ?",
    "nothing_matches": (
        "Les documents que je peux consulter n'en disent rien ou presque ; la recherche pourrait ne rien trouver."
    ),
    "nothing_matches_many": (
        "Sur {which}, les documents que je peux consulter ne disent rien ou presque ; la recherche pourrait n'y rien "
        "trouver."
    ),
    "caution": (
        "Cela touche à la médecine, au droit ou à la finance : le rapport montrera ce que disent les sources, il "
        "n'est pas un conseil personnel."
    ),
    "greeting": (
        "Bonjour. Posez une question à laquelle des documents peuvent répondre, aussi large que vous voulez ; nous "
        "la resserrons ensemble et rien ne commence sans votre accord."
    ),
    "ask_question": "Que voulez-vous savoir ?",
    "no_question": "Je n'y trouve pas de question. Que voulez-vous savoir ?",
    "taken": "C'est noté.",
    "dropped": "Retirée : « {query} ».",
    "added": "Ajoutée.",
    "narrowed": "Resserrée.",
    "settled_period": "La période est donc fixée.",
    "nothing_left": "Il ne reste aucune question. Que voulez-vous savoir ?",
    "which_one": "Laquelle voulez-vous ? Donnez-moi le numéro.",
    "still_open": "Il me faut une question plus étroite avant d'ébaucher un plan.",
    "not_there": "Il n'y a pas de numéro {number}.",
    "plan_below": "L'ébauche du plan est ci-dessous ; rien n'a commencé.",
    "agree_ready": "On en reste là.",
    "suggest_known": "{theme} et {subject} : que sait-on, et où les sources divergent-elles ?",
    "suggest_period": "{theme} et {subject} : qu'est-ce qui a changé entre {first} et {last}, et pourquoi ?",
    "suggest_why": "{theme} et {subject} : quels chiffres donnent les sources, et pourquoi diffèrent-ils ?",
    "suggest_measure": "{theme} et {subject} : quelles mesures sont décrites, et ont-elles fonctionné ?",
    "suggest_one": "Quels chiffres donnent les sources sur {theme} à propos de {subject} ?",
    "merge_only": "{question} (seulement {limit})",
    "merge_aspect": "{theme} et {subject} : que sait-on, et où les sources divergent-elles ?",
    "merge_aspect_period": "{theme} et {subject}, {first} à {last} : que sait-on, et où les sources divergent-elles ?",
    "merge_subject": "{theme} : que sait-on, et où les sources divergent-elles ?",
    "limits_title": "Limites et objections",
    "limits_question": "Quelles limites, quels doutes ou résultats contraires sont indiqués : {question}",
    "claim_figure": "{question} Les sources donnent un chiffre.",
    "claim_reason": "{question} Les sources nomment une cause.",
    "claim_agree": "{question} Des sources indépendantes s'accordent sur la réponse.",
    "claim_answer": "{question} Les sources donnent une réponse.",
    "item_title": "{item} : {label}",
    "agree_2": "Deux sources concordent sur ce point.",
    "agree_3": "Trois sources concordent sur ce point.",
    "agree_n": "{n} sources concordent sur ce point.",
    "differ": "Les sources divergent : “{one}” ({one_source}){one_mark}, mais “{other}” ({other_source}){other_mark}.",
    "differ_third": "Un autre chiffre : “{one}” ({one_source}){one_mark}.",
    "older": (
        "Un chiffre plus ancien : “{one}” ({one_source}){one_mark}. Il a été remplacé depuis : “{other}” "
        "({other_source}){other_mark}."
    ),
    "newest": "Le plus récent : “{one}” ({one_source}){one_mark}.",
    "table_head": "Comparé",
    "limits": "Limites que les sources indiquent elles-mêmes :",
    "unanswered": "Aucune source lue ne répond à : {question}",
    "degraded": "La recherche était limitée ; la réponse repose sur des informations partielles.",
    "insight_agree": "Des sources indépendantes concordent ici : “{one}”{marks}.",
    "outlier": "Un chiffre se détache : “{one}” ({one_source}){one_mark}.",
    "no_reconcile": "Les sources ne disent pas lequel est juste.",
    "why_differ": "Pourquoi les chiffres diffèrent : “{one}”{one_mark}.",
}
