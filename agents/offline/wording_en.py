"""The engine's own sentences in English. They are no prompts: no model reads them."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "quotes_only": (
        "No language model is set up: the offline engine quotes sources and cites them; it does not reason or "
        "paraphrase."
    ),
    "small_enough": "That is small enough as it is.",
    "small_enough_many": "I read that as {n} separate questions. Each is small enough as it is.",
    "some_ready": "I read that as {n} separate questions. Ready: {ready}. Still too broad: {open}.",
    "lookup": "One lookup answers this. I'd read two or three sources, about a minute.",
    "lookup_reason": "A single fact: one leaf settles it, it needs no research tree.",
    "feasible_reason": (
        "Falls into {leaves} leaves on {levels} executor {level_word}; {max_leaves} leaves and {max_depth} levels "
        "are the bound."
    ),
    "feasible_reason_one": "One leaf on one executor level settles it.",
    "too_broad_reason": (
        "Would need {leaves} leaves on {levels} executor {level_word}; {max_leaves} and {max_depth} are the bound. "
        "Left open: {points}."
    ),
    "too_wide_reason": (
        "Names so many parts that it would need {leaves} leaves on {levels} executor {level_word}; {max_leaves} and "
        "{max_depth} are the bound."
    ),
    "cannot_yet": "I can't research that well as one question yet.",
    "cannot_yet_part": "I can't research “{query}” well as one question yet.",
    "leaves_open_1": "One thing leaves it too open:",
    "leaves_open_2": "Two things leave it too open:",
    "leaves_open_3": "Three things leave it too open:",
    "tree_size": (
        "Drafted as it stands, it would need {leaves} leaves on {levels} {level_word}; {max_leaves} and {max_depth} "
        "are the bound."
    ),
    "versions": (
        "Here are {n} versions I could start on. Pick any that matter, by number or in words; each becomes its own "
        "query."
    ),
    "point_scope": "**Scope.** It names no aspect. {detail}",
    "detail_themes": "The documents that match speak of {themes}, among others; each is a question of its own.",
    "detail_none": (
        "What happened, why, at what cost and with what result are separate questions with different evidence."
    ),
    "point_parts": "**Scope.** It names {n} parts at once; each has its own evidence.",
    "point_period": "**Period.** It names no years, so past, present and future are all meant. {detail}",
    "detail_dates": "The documents run from {first} to {last}.",
    "detail_no_dates": "A span of years would settle it.",
    "point_place": "**Place.** It covers every country; which one, or which few?",
    "point_population": "**Population.** “{term}” is nobody in particular: whom should it be about?",
    "point_comparison": "**Comparison.** “{term}” compared with what, and measured by what?",
    "point_terms": "**Terms.** “{term}” can mean many things; which measurable effect is meant?",
    "name_scope": "aspect",
    "name_period": "period",
    "name_place": "place",
    "name_population": "population",
    "name_comparison": "comparison",
    "name_terms": "what “{term}” means",
    "ask_scope": "Which aspect matters most to you?",
    "ask_period": "Which years should it cover?",
    "ask_place": "Which place or places should it cover?",
    "ask_population": "Whom should it be about?",
    "ask_comparison": "Compared with what, and by which measure?",
    "ask_terms": "Which effect do you mean by “{term}”?",
    "ask_pick": "Which of the versions shall I take?",
    "nothing_matches": "The documents I can search hold little or nothing on this; the run may find nothing.",
    "nothing_matches_many": (
        "On {which} the documents I can search hold little or nothing; the run may find nothing there."
    ),
    "caution": (
        "This touches on medical, legal or financial matters: the report will show what sources say, it is no "
        "personal advice."
    ),
    "greeting": (
        "Hello. Ask me something that documents can answer, as broad as you like; we narrow it together and nothing "
        "starts until you say so."
    ),
    "ask_question": "What would you like to find out?",
    "no_question": "I find no question in that. What would you like to find out?",
    "taken": "Taken.",
    "dropped": "Dropped: “{query}”.",
    "added": "Added.",
    "narrowed": "Narrowed.",
    "settled_period": "That settles the period.",
    "nothing_left": "No query is left. What would you like to find out?",
    "which_one": "Which one do you mean? Give me the number.",
    "still_open": "I still need a narrower question before I can draft a plan.",
    "not_there": "There is no number {number} to choose from.",
    "plan_below": "The draft plan is below; nothing has started.",
    "agree_ready": "Then it stays as it is.",
    "suggest_known": "{theme} and {subject}: what is known, and where do the sources disagree?",
    "suggest_period": "{theme} and {subject}: what changed between {first} and {last}, and why?",
    "suggest_why": "{theme} and {subject}: which figures do the sources give, and why do they differ?",
    "suggest_measure": "{theme} and {subject}: which measures are described, and how well did they work?",
    "suggest_one": "Which figures do the sources give on {theme} in connection with {subject}?",
    "merge_only": "{question} (only {limit})",
    "merge_aspect": "{theme} and {subject}: what is known, and where do the sources disagree?",
    "merge_aspect_period": (
        "{theme} and {subject}, {first} to {last}: what is known, and where do the sources disagree?"
    ),
    "merge_subject": "{theme}: what is known, and where do the sources disagree?",
    "limits_title": "Limits and objections",
    "limits_question": "Which limits, doubts or contrary findings are stated: {question}",
    "claim_figure": "{question} The sources give a figure.",
    "claim_reason": "{question} The sources name a cause.",
    "claim_agree": "{question} Independent sources agree on the answer.",
    "claim_answer": "{question} The sources give an answer.",
    "item_title": "{item}: {label}",
    "agree_2": "Two sources agree on this.",
    "agree_3": "Three sources agree on this.",
    "agree_n": "{n} sources agree on this.",
    "differ": "The sources differ: “{one}” ({one_source}){one_mark}, but “{other}” ({other_source}){other_mark}.",
    "differ_third": "A further figure: “{one}” ({one_source}){one_mark}.",
    "older": (
        "An older figure: “{one}” ({one_source}){one_mark}. It has since been replaced: “{other}” "
        "({other_source}){other_mark}."
    ),
    "newest": "The most recent: “{one}” ({one_source}){one_mark}.",
    "table_head": "Compared",
    "limits": "Limits that the sources state themselves:",
    "unanswered": "No source read answers this: {question}",
    "degraded": "Search capabilities were limited; answer is based on partial information.",
    "insight_agree": "Independent sources agree here: “{one}”{marks}.",
    "outlier": "One figure stands apart: “{one}” ({one_source}){one_mark}.",
    "no_reconcile": "The sources do not say which of these holds.",
    "why_differ": "Why the figures differ: “{one}”{one_mark}.",
}
