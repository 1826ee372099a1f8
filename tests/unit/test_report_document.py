"""The document: its order, its numbers, its grade, and that no citation can point at nothing."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts.fact import Insights
from agents.contracts.finding import FACT_MARK, Finding, Frame, NearPassage, QuestionAnswer
from agents.contracts.frozen import Said
from agents.contracts.report import Actual, ReportDocument
from agents.contracts.sources import RejectedSource
from agents.contracts.verification import CONFIDENCE_GATE, EVIDENCE_GATE, Claim, Evidence, Gate, SentenceCheck, Truth
from agents.nlp.lang import CUED
from agents.report.composer import Composer
from agents.report.document import build
from agents.report.html_export import to_html
from agents.report.wording import LOCALES, languages, wording
from agents.research.writing.verify_report import verify
from tests.unit import report_world as world


def headings(document):
    return re.findall(r"^#+ .*$", document.markdown, flags=re.MULTILINE)


def test_a_report_opens_with_its_summary_and_keeps_the_order_of_parts():
    document = world.document()

    assert document.markdown.startswith("It closed on **twelve days**.[1]")
    assert headings(document) == [
        "## Closures", "## Other ways", "### Freight", "### Roads", "## What stands out", "## References",
        "## Methodology", "## Limitations and open questions",
    ]  # fmt: skip


def test_several_queries_have_a_section_each_with_their_branches_below():
    document = world.document(contract=world.contract(queries=2), findings=(world.TOP, world.TOP))

    assert headings(document)[:5] == ["## Why", "### Closures", "### Other ways", "#### Freight", "#### Roads"]


def test_numbers_follow_first_use_and_the_list_holds_exactly_what_is_cited():
    document = world.document()

    assert [reference.source_id for reference in document.references] == ["s1", "s2", "s3"]
    assert [quote.fact_id for quote in document.references[0].quotes] == [world.F1.id, world.F3.id]


def test_a_table_row_is_one_sentence_where_its_last_cell_cites():
    texts = {sentence.text: sentence for sentence in world.document().sentences}

    assert texts["2022 | 12"].citations == (1,)
    assert (texts["3"].citations, texts["4"].citations) == ((2,), (1,))
    assert texts["2021"].verdict is None


def test_a_sentence_is_unchecked_uncited_or_exempt():
    verdicts = {sentence.text: sentence.verdict for sentence in world.document().sentences}

    assert verdicts["It closed on twelve days, they say."] == "unchecked"
    assert verdicts["one"] == "uncited"
    assert verdicts["Two sources agree on this."] is None
    assert "Taken together:" not in verdicts  # it announces nothing: prose follows
    assert verdicts["The limit. Is 18."] == "unchecked"


def test_a_failed_branch_stays_in_its_place_and_makes_the_report_partial():
    document = world.document()

    assert document.grade == "partial"
    assert document.grade_reasons == ("Freight: the archive refused access.",)
    assert "### Freight\n\nThis part is missing: the archive refused access." in document.markdown
    assert [problem.message for problem in document.error_log] == ["refused"]


def test_a_branch_without_prose_is_written_from_its_facts():
    assert "### Roads\n\nFreight moved by road.[3]" in world.document().markdown


def test_a_section_does_not_repeat_the_summary_word_for_word():
    said = f"“{world.F4.quote}”[#{world.F4.id}]"
    roads = world.ROADS.model_copy(update={"markdown": f"Site: {said} “More.”[#{world.F4.id}]"})
    top = world.TOP.model_copy(update={"children": (roads,), "status": "done"})

    document = world.document(
        findings=(top,), frame=Frame(title="T", summary=said, insight="", conclusion="", open_questions=())
    )

    assert document.markdown.split("## References")[0].count(world.F4.quote) == 1


def test_a_summary_leaves_out_what_answers_nothing_that_was_asked_where_the_rest_does():
    said = f"Freight moved by road.[#{world.F4.id}] Prices rose.[#{world.F3.id}]"
    frame = Frame(title="T", summary=said, insight="", conclusion="", open_questions=())

    def summary(*facts):
        answer = QuestionAnswer(question="How was freight moved?", status="answered", asked=True, facts=facts)
        return world.document(frame=frame, truth=Truth(answers=(answer,))).markdown.split("## ")[0]

    assert "Prices rose." not in summary(world.F4.id)
    assert "Freight moved by road." in summary(world.F4.id)
    assert "Prices rose." in summary(world.F2.id)  # none of it answers: all of it stays


def test_a_section_that_only_repeats_the_summary_in_other_marks_is_left_out():
    said = f"Freight moved by road.[#{world.F4.id}]"
    roads = world.ROADS.model_copy(update={"markdown": f"“Freight moved **by road**.”[#{world.F4.id}]"})
    top = world.TOP.model_copy(update={"children": (roads,), "status": "done"})

    document = world.document(
        findings=(top,), frame=Frame(title="T", summary=said, insight="", conclusion="", open_questions=())
    )

    assert headings(document)[:2] == ["## References", "## Methodology"]
    assert document.markdown.count("[1]") == 1


def test_the_section_that_is_the_summary_leaves_nothing_of_itself_below():
    said = (
        f"Freight moved by road.[#{world.F4.id}] It was told in two parts.\n\n### Conclusion\n\nFreight moved by road."
    )
    roads = world.ROADS.model_copy(update={"markdown": said})
    top = world.TOP.model_copy(update={"children": (roads,), "status": "done"})

    document = world.document(
        findings=(top,), frame=Frame(title="T", summary=said, insight="", conclusion="", open_questions=())
    )

    assert headings(document)[:2] == ["## References", "## Methodology"]


def test_a_line_that_announces_a_list_and_has_prose_behind_it_is_left_out():
    said = f"The facts give two things:\n\n1. Freight moved by road.[#{world.F4.id}]"
    roads = world.ROADS.model_copy(
        update={"markdown": f"Two more things:\n\n- One.[#{world.F4.id}]\n- Two.[#{world.F4.id}]"}
    )
    top = world.TOP.model_copy(update={"children": (roads,), "status": "done"})

    document = world.document(
        findings=(top,), frame=Frame(title="T", summary=said, insight="", conclusion="", open_questions=())
    )

    assert "two things:" not in document.markdown
    assert "Two more things:" in document.markdown


def test_insight_and_conclusion_do_not_say_the_summary_again():
    said = f"Freight moved by road.[#{world.F4.id}]"
    frame = Frame(
        title="T", summary=said, insight=said, conclusion=f"{said} Prices rose.[#{world.F3.id}]", open_questions=()
    )

    document = world.document(frame=frame)

    assert "## What stands out" not in headings(document)
    assert document.markdown.count("Freight moved by road.[") == 1
    assert "## Conclusion\n\nPrices rose.[" in document.markdown


def test_what_is_open_is_said_once_whoever_says_it_and_another_figure_is_another_question():
    missing = QuestionAnswer(question="Which ferry carried the freight of Tolven in 2023?", status="not_found")
    open_ = (
        "It stays open which ferry carried the freight of Tolven in 2023?",
        "Which ferry carried the freight of Tolven in 2019?",
        "Which ferry then carried the freight of Tolven in 2019?",
    )
    frame = world.FRAME.model_copy(update={"open_questions": open_})

    said = world.document(frame=frame, truth=Truth(answers=(missing,))).limitations

    assert [line for line in said if "ferry" in line] == [
        "Which ferry carried the freight of Tolven in 2023: nothing to the point was found.", open_[1]
    ]  # fmt: skip


def test_a_question_without_an_answer_is_said_once_also_where_leaves_of_other_names_ask_it():
    asked = "Which ferry carried the freight of Tolven in 2023?"
    missing = QuestionAnswer(question=asked, status="not_found", section="Freight")
    first, second, other = (
        Finding(path=f"j/0/{n}", title=title, role="leaf", status="failed", note="it failed", asked=(question,))
        for n, (title, question) in enumerate(
            (
                ("Freight", asked),
                ("Ships", "Which ferry carried the freight of Tolven, in 2023?"),
                ("Ash", "Who built it?"),
            )
        )
    )
    top = world.TOP.model_copy(update={"children": (*world.TOP.children, first, second, other), "status": "partial"})

    reasons = world.document(findings=(top,), truth=Truth(answers=(missing,))).grade_reasons

    assert [one for one in reasons if "failed" in one or "Tolven" in one] == [
        "Which ferry carried the freight of Tolven in 2023: nothing to the point was found.", "Ash: it failed."
    ]  # fmt: skip


def test_sources_read_are_those_that_the_report_lists_as_read():
    aside = RejectedSource(url="https://aside.example/", title="Set aside", reason="it answers none", read=True)
    leaf = world.CLOSURES.model_copy(
        update={"rejected": (*world.REJECTED, aside), "sources": (world.A, world.B, world.card(9))}
    )
    document = world.document(findings=(world.TOP.model_copy(update={"children": (leaf, world.OTHERS)}),))
    row = next(line for line in document.markdown.splitlines() if line.startswith("| Sources read"))

    assert document.methodology.sources_read == len(document.references) + len(["Title 9", "Set aside"])
    assert row.endswith(f"| {document.methodology.sources_read} |")
    assert "Read and not cited: [Title 9](https://site9.example/p)" in document.markdown


@pytest.mark.parametrize("language", languages())
def test_what_was_searched_is_named_in_the_words_of_the_reader(language):
    searches = tuple(one.model_copy(update={"provider": "library, tavily-keyless"}) for one in world.SEARCHES)
    leaf = world.CLOSURES.model_copy(update={"searches": searches})
    top = world.TOP.model_copy(update={"children": (leaf,)})
    text = world.document(contract=world.contract(language=language), findings=(top,)).markdown

    assert wording(language).provider("library") in text
    assert wording(language).provider("tavily-keyless") in text
    assert "keyless" not in text


@pytest.mark.parametrize("language", languages())
def test_a_language_of_the_report_has_every_text_but_the_reasons_which_the_docs_say(language):
    own, english = (tomllib.loads((LOCALES / f"{one}.toml").read_text("utf-8")) for one in (language, "en"))
    lacking = {
        f"{name}.{key}"
        for name, part in english.items()
        for key in (part if isinstance(part, dict) else ("",))
        if (name != "reasons" and name not in own) or (name in own and isinstance(part, dict) and key not in own[name])
    }
    # Services are called the same in every language; phrases that tell transitions are in those whose grammar is known.
    services = {f"providers.{name}" for name, said in english["providers"].items() if said[0].isupper()}

    assert lacking - services <= ({"no_fact."} if language not in CUED else set()) | {"providers.arxiv"}
    assert language == "en" or own["providers"].keys() >= {"library", "your files", "tavily-keyless"}


def test_what_a_later_round_followed_in_vain_is_told_and_lowers_nothing():
    later = Finding(path="j/0/r2-0", title="Ash road: closed", role="leaf", status="empty", note="none mentions it")
    top = world.TOP.model_copy(update={"children": (world.ROADS, later), "status": "done"})

    document = world.document(findings=(top,))

    assert document.grade == "complete"
    assert "Followed up without result: Ash road: closed." in document.limitations


def test_what_was_followed_in_vain_for_a_question_without_an_answer_is_told_by_that_question():
    later = Finding(path="j/0/r2-0", title="Level: closed", role="leaf", status="empty", note="none mentions it")
    top = world.TOP.model_copy(update={"children": (world.ROADS, later), "status": "done"})
    missing = QuestionAnswer(question="Which road was open?", status="not_found")

    said = world.document(findings=(top,), truth=Truth(answers=(missing,))).limitations

    assert said[0] == "Which road was open: nothing to the point was found."
    assert not any("Level" in line for line in said)


def test_a_report_whose_branches_are_done_is_complete():
    top = world.TOP.model_copy(update={"children": (world.CLOSURES,), "status": "done"})
    document = world.document(findings=(top,))

    assert (document.grade, document.grade_reasons) == ("complete", ())


def test_an_empty_branch_beside_others_makes_it_partial():
    empty = Finding(path="j/0/1", title="Nothing here", role="leaf", status="empty")
    top = world.TOP.model_copy(update={"children": (world.CLOSURES, empty), "status": "done"})
    document = world.document(findings=(top,))

    assert document.grade_reasons == ("Nothing here: nothing to the point was found.",)
    assert "## Nothing here\n\nNothing to the point was found on this." in document.markdown


def test_an_address_the_user_named_that_failed_is_said():
    reasons = world.document(seed_failures=("https://named.example/",)).grade_reasons

    assert "The address https://named.example/, which you named, could not be read." in reasons


def test_a_document_that_one_branch_set_aside_and_another_used_is_not_listed_as_unused():
    aside = RejectedSource(url=world.A.url, reason="read; says nothing to the point")
    roads = world.OTHERS.model_copy(update={"rejected": (aside,)})
    document = world.document(findings=(world.TOP.model_copy(update={"children": (world.CLOSURES, roads)}),))

    assert [one.url for one in document.methodology.sources_rejected] == [one.url for one in world.REJECTED]


def test_without_a_frame_code_opens_with_the_first_cited_sentence_of_each_branch():
    document = world.document(frame=None)

    assert document.markdown.startswith("It closed on twelve days, they say.[1] Freight went by road.[2]\n\n## ")
    assert document.title == "Why did the ice line close?"
    assert "#PATH_DECISION" in [tag.tag for tag in document.methodology.tags]


def test_where_no_model_wrote_the_missing_frame_is_no_decision():
    document = build("job", world.outcome(frame=None), world.ACTUAL, engine="offline", reasons=False)

    assert "#PATH_DECISION" not in [tag.tag for tag in document.methodology.tags]
    assert "No language model was used." in document.markdown


def test_nothing_found_says_what_was_tried_and_cites_nothing():
    empty = Finding(
        path="j/0", title="Why", role="query", status="empty", searches=world.SEARCHES, sources=(world.A,),
        rejected=world.REJECTED,
    )  # fmt: skip
    document = world.document(findings=(empty,))

    assert document.grade == "nothing_found"
    assert document.markdown.startswith("I found nothing that answers this.")
    assert document.queries_tried == ("line closures", "ice limit")
    assert "“ice limit” (failed: no answer)" in document.markdown
    assert "behind a login" in document.markdown
    assert "## References" not in document.markdown
    assert [tag.tag for tag in document.methodology.tags] == ["#LOW_EVIDENCE"]
    assert {sentence.verdict for sentence in document.sentences} == {None}


def test_what_comes_nearest_is_quoted_as_that_and_nothing_rests_on_it():
    near = (NearPassage(title="Ferry log", url="https://a.example/log", words="Ice stopped the line on 4 days."),)
    empty = Finding(path="j/0", title="Why", role="query", status="empty", searches=world.SEARCHES, near=near)
    document = world.document(findings=(empty,))

    assert "“Ice stopped the line on 4 days.” [Ferry log](https://a.example/log)" in document.markdown
    assert (document.grade, document.references) == ("nothing_found", ())


def test_of_several_questions_that_nothing_answers_each_has_its_nearest_before_any_has_a_second_one():
    def branch(at, of):
        near = tuple(
            NearPassage(title=of, url=f"https://a.example/{of}", words=f"{of}, place {n}.") for n in range(1, 6)
        )
        return Finding(path=f"j/0/{at}", title=of, role="leaf", status="empty", searches=world.SEARCHES, near=near)

    top = Finding(
        path="j/0", title="Why", role="query", status="empty", children=(branch(0, "Notice"), branch(1, "Deposit"))
    )
    text = world.document(findings=(top,)).markdown

    assert text.index("Notice, place 1.") < text.index("Deposit, place 1.") < text.index("Notice, place 2.")
    assert "Notice, place 4." not in text


def test_where_nothing_was_found_no_source_is_quoted_among_the_limitations():
    said = Insights(triggers=("stated_limitation",), source_identified_gaps=("Planting alone cannot pay.",))
    listed = {}
    for held in (True, False):
        left = {} if held else {"facts": (), "markdown": "", "status": "empty"}
        branch = world.ROADS.model_copy(update={"insights": (said,), **left})
        findings = (world.TOP.model_copy(update={"children": (branch,)}),)
        document = world.document(findings=findings, frame=None)
        listed[held] = any("Planting alone" in line for line in document.limitations)

    assert listed == {True: True, False: False}


def test_an_unknown_cost_is_never_zero():
    row = next(line for line in world.document().markdown.splitlines() if line.startswith("| Cost"))
    free = build("job", world.outcome(), Actual(cost_usd=0.0), engine="e", reasons=True).markdown

    assert row == "| Cost | unknown | unknown |"
    assert "| Cost | unknown | free |" in free


def test_figures_are_written_as_the_language_of_the_report_does():
    document = build(
        "job", world.outcome(contract=world.contract(language="de")), Actual(cost_usd=0.5, seconds=4.25), engine="e",
        reasons=True,
    )  # fmt: skip

    assert "| Kosten | unbekannt | 0,50 USD |" in document.markdown
    assert "Kosten: 0,50 USD" in to_html(document)
    assert "4,2 s" in to_html(document)


def test_invented_samples_are_marked_and_explained():
    document = world.document()

    assert "2. Title 2 (invented sample)" in document.markdown
    assert "nothing in them is evidence about the world" in document.markdown


def test_assumptions_and_limits_raise_their_tags():
    bound = world.contract(assumptions=("Winter is December to March.",))
    document = world.document(contract=bound, tags=("#TIME_LIMIT",))

    assert [tag.tag for tag in document.methodology.tags] == ["#TIME_LIMIT", "#COMPLETION_DRIVE"]
    assert "Assumed in order to go on: Winter is December to March." in document.markdown
    before, tag, _ = document.markdown.partition("the assumptions are listed above")
    assert tag
    assert "Winter is December" in before
    assert document.insufficient_termination


def test_rows_of_the_tree_name_their_parent():
    rows = {row.path: (row.parent, row.status) for row in world.document().nodes}

    assert rows["j/0/1/0"] == ("j/0/1", "failed")
    assert rows["j/0"] == ("", "partial")


@pytest.mark.parametrize("language", languages())
def test_each_language_has_its_own_wording_and_builds(language):
    document = world.document(contract=world.contract(language=f"{language}-XX"))

    assert wording(f"{language}-XX").language == language
    assert f"## {wording(language).methodology}" in document.markdown
    assert set(wording(language).tags) == set(wording("en").tags)
    assert set(wording(language).figures) == set(wording("en").figures)


def test_a_german_report_says_in_german_what_is_missing_of_a_branch():
    document = world.document(contract=world.contract(language="de"))

    assert "the archive refused access" not in document.markdown
    assert "Dieser Teil fehlt: fehlgeschlagen." in document.markdown


@pytest.mark.parametrize(("verdict", "said"), [("contested", True), ("supported", False)])
def test_a_summary_that_tells_one_of_two_contradicting_figures_quotes_the_other(verdict, said):
    evidence = tuple(
        Evidence(fact_id=one.id, source_id=one.source_id, domain="a", stance=stance, strength=0.9, quote=one.quote)
        for one, stance in ((world.F1, "supports"), (world.F4, "contradicts"))
    )
    claim = Claim(id="c1", text="It closed on twelve days.", verdict=verdict, evidence=evidence)
    document = world.document(truth=Truth(claims=(claim,)))
    opening = document.markdown.partition("## ")[0]

    assert ("Another source says otherwise: “Freight moved by road.”[2]" in opening) == said


def test_words_of_the_very_source_that_states_a_claim_are_no_other_source_and_no_conflict_of_sources():
    evidence = tuple(
        Evidence(fact_id=one.id, source_id=world.F1.source_id, domain="a", stance=stance, strength=0.9, quote=one.quote)
        for one, stance in ((world.F1, "supports"), (world.F4, "contradicts"))
    )
    claim = Claim(id="c1", text="It closed on twelve days.", verdict="contested", evidence=evidence)
    document = world.document(truth=Truth(claims=(claim,)))

    assert "The same source says otherwise, too: “Freight moved by road.”" in document.markdown
    assert "Another source says otherwise" not in document.markdown
    assert "#SOURCE_CONFLICT" not in {tag.tag for tag in document.methodology.tags}


def test_a_section_that_tells_one_of_two_contradicting_figures_quotes_the_other_below_it_once():
    evidence = tuple(
        Evidence(fact_id=one.id, source_id=one.source_id, domain="a", stance=stance, strength=0.9, quote=one.quote)
        for one, stance in ((world.F3, "supports"), (world.F4, "contradicts"))
    )
    claim = Claim(id="c1", text="Prices rose.", verdict="contested", evidence=evidence)
    text = world.document(truth=Truth(claims=(claim,))).markdown
    section = text.partition("## Closures")[2].partition("\n## ")[0]

    said = "Another source says otherwise: “Freight moved by road.”"
    assert (said in section, text.count(said)) == (True, 1)


class Here:
    """Carries out a step at once."""

    async def call(self, kind, key, fn, *args, gives, pool):
        return await fn(*args)


async def test_a_sentence_that_rests_on_another_source_than_when_its_section_was_checked_is_checked_again():
    draft = world.document()
    first = next(one for one in draft.sentences if one.facts)
    known = SentenceCheck(text=first.text, facts=(world.F2.id,), verdict="supported")

    found = await verify(Here(), None, draft, (world.TOP,), (known,), ask_model=False)

    assert [check.facts for check in found.checks if check.text == first.text] == [first.facts]


@pytest.mark.parametrize("section", ["Freight", ""])
def test_a_question_without_an_answer_is_named_once(section):
    missing = QuestionAnswer(question="Freight (Tolven)?", status="not_found", section=section)
    document = world.document(truth=Truth(answers=(missing,)))

    assert document.grade_reasons == ("Freight (Tolven): nothing to the point was found.",)
    assert document.limitations[0] == document.grade_reasons[0]
    assert sum(line.startswith("Freight") for line in document.limitations) == 1


def test_a_report_that_found_nothing_says_so_of_each_branch_in_its_language():
    for language, said in {
        "de": "Freight: keins der 8 Dokumente erwähnt es.",
        "it": "Freight: nulla di pertinente trovato.",
    }.items():
        note = Said("none of the {n} documents mentions it", n=8)
        empty = world.FREIGHT.model_copy(update={"status": "empty", "note": note})
        findings = (world.TOP.model_copy(update={"children": (empty,)}),)
        document = world.document(contract=world.contract(language=language), findings=findings, frame=None)

        assert document.grade == "nothing_found"
        assert said in document.limitations
    assert "none of the 8" not in document.markdown


def test_figures_of_the_whole_report_stand_in_methodology_and_not_again_among_the_limitations():
    gates = (
        Gate(name=CONFIDENCE_GATE, reached=33.0, wanted=70, passed=False),
        Gate(name=EVIDENCE_GATE, reached=0, wanted=1, passed=False),
    )
    claims = (Claim(id="c1", text="It closed.", verdict="supported"),)
    checks = (SentenceCheck(text="It closed.", facts=(), verdict="supported"),)
    truth = Truth(claims=claims, checks=checks, gates=gates, confidence=33.0, shortfalls=("English only.",))
    document = world.document(truth=truth)
    said = "\n".join(document.limitations)

    assert "The confidence of this report is 33 of 100 (< 70)." in document.grade_reasons
    half = tuple(
        QuestionAnswer(question=f"{one}?", status=one, asked=True) for one in ("answered", "not_found", "not_found")
    )
    told = world.document(truth=truth.model_copy(update={"answers": half})).grade_reasons
    assert not any("33 of 100" in one for one in told), "the open questions lower it, and are told by themselves"
    assert "33 of 100" not in said
    assert "English only." not in said
    assert "1 of 1 claim rests on less evidence" in said


def test_a_document_that_was_read_and_not_used_is_called_by_its_title():
    rejected = (RejectedSource(url="library:/own/6321.txt", title="A survey of roads", reason="read"),)
    findings = (world.TOP.model_copy(update={"rejected": rejected}),)

    assert "A survey of roads: read" in world.document(findings=findings).markdown


def test_an_unknown_language_falls_back_to_english():
    assert wording("tlh").language == "en"


# ---- whatever comes in, a valid document comes out

SOURCES = [world.card(number) for number in range(1, 6)]
FACTS = [world.fact(number, SOURCES[number % 5], f"Words number {number}.", start=number) for number in range(12)]
MARK = st.sampled_from([f"[#{fact.id}]" for fact in FACTS])
BIT = st.sampled_from(
    [
        "Ice held.", "It cost $5", "and $6.", "- ", "\n", "\n\n", "| a | b |\n|---|---|\n| c | ", " | d |\n", "> ",
        "## H\n", "**x.**", "“A. B.”", "[12]", "[2023]", "`[1]`", "1. ", "氷。", "|", "\\",
        "[t](https://site1.example/p)", "References\n", "—", "a:",
    ]
)  # fmt: skip
PROSE = st.lists(BIT | MARK | st.just("[#fffffff]") | st.text("aé .|[]#", max_size=5), max_size=16).map(" ".join)


def known_only(markdown, facts):
    known = {fact.id for fact in facts}
    return FACT_MARK.sub(lambda match: match[0] if match[1] in known else "", markdown)


@st.composite
def leaves(draw, path):
    facts = tuple(draw(st.lists(st.sampled_from(FACTS), max_size=6, unique=True)))
    return Finding(
        path=path, title=draw(st.sampled_from(["Ice", "Roads [1]", "# x", "氷"])), role="leaf", facts=facts,
        status=draw(st.sampled_from(["done", "partial", "failed", "stopped", "empty"])),
        sources=tuple(SOURCES), markdown=known_only(draw(PROSE), facts),
    )  # fmt: skip


@st.composite
def outcomes(draw):
    children = tuple(draw(leaves(f"j/0/{number}")) for number in range(draw(st.integers(0, 3))))
    inner = Finding(path="j/0/9", title="Inner", role="node", status="done", children=children)
    inner = inner.model_copy(update={"markdown": known_only(draw(PROSE), inner.all_facts())})
    below = (inner,) if children and draw(st.booleans()) else children
    top = Finding(path="j/0", title="Top", role="query", status="done", children=below)
    text = draw(PROSE).strip()
    if not text or draw(st.booleans()):
        return world.outcome(findings=(top,), frame=None)
    frame = Frame(title="T", summary=text, insight=draw(PROSE), conclusion=draw(PROSE), open_questions=())
    return world.outcome(findings=(top,), frame=frame)


@given(outcomes())
def test_any_outcome_gives_a_valid_document(outcome):
    document = build("job", outcome, Actual(), engine="e", reasons=True)

    again = ReportDocument.model_validate_json(document.model_dump_json())
    assert again == document
    held = {fact.id for fact in outcome.findings[0].all_facts()}
    order = list(dict.fromkeys(n for sentence in document.sentences for n in sorted(sentence.citations)))
    assert order == list(range(1, len(document.references) + 1))
    assert all(len(sentence.citations) <= 3 for sentence in document.sentences)
    assert {quote.fact_id for reference in document.references for quote in reference.quotes} == {
        fact for sentence in document.sentences for fact in sentence.facts
    }
    assert {fact for sentence in document.sentences for fact in sentence.facts} <= held
    assert (document.grade == "nothing_found") == (not held)


@given(outcomes())
def test_the_text_cites_what_its_sentences_cite(outcome):
    document = build("job", outcome, Actual(), engine="e", reasons=True)

    assert [one.text.strip() for one in document.body.sentences()][: len(document.sentences)] == [
        one.text for one in document.sentences
    ]
    text = re.sub(r"`[^`]*`", "", document.markdown.replace("\\\\", ""))
    marks = re.findall(r"(?<!\\)\[(\d+)\](?!\()", text)
    assert [int(mark) for mark in marks] == [n for sentence in document.sentences for n in sentence.citations]


@given(st.lists(st.sampled_from(FACTS), min_size=1, max_size=3, unique=True), PROSE)
def test_no_quote_is_lost(facts, noise):
    text = f"Ice held.{''.join(f'[#{fact.id}]' for fact in facts)}\n\n{known_only(noise, facts)}"
    leaf = Finding(
        path="j/0/0", title="L", role="leaf", status="done", facts=tuple(facts), sources=tuple(SOURCES), markdown=text
    )
    top = Finding(path="j/0", title="Top", role="query", status="done", children=(leaf,))
    document = build("job", world.outcome(findings=(top,), frame=None), Actual(), engine="e", reasons=True)

    quoted = {quote.fact_id for reference in document.references for quote in reference.quotes}
    composer = Composer([top], "en")
    assert quoted == set(composer.read(text, 3).facts())
    assert {fact.id for fact in facts} <= quoted


def test_a_sentence_keeps_its_verdict_when_another_source_of_the_same_words_comes_to_it():
    one, two = FACTS[:2]
    text = f"Ice held.[#{one.id}][#{two.id}]\n"
    top = Finding(path="j/0", title="T", role="query", status="done", facts=(one, two), sources=tuple(SOURCES))
    check = SentenceCheck(text="Ice held.", facts=(one.id,), verdict="supported", reason="")

    composer = Composer([top], "en", checks=[check])
    composer.prose(text)

    assert [sentence.verdict for sentence in composer.body().sentences()] == ["supported"]


@pytest.mark.parametrize("language", languages())
def test_a_language_has_no_text_that_english_lacks_and_fills_in_the_same_places(language):
    def texts(table, above=""):
        for name, text in table.items():
            if isinstance(text, dict):
                yield from texts(text, f"{above}{name}.")
            elif isinstance(text, str):
                yield f"{above}{name}", set(re.findall(r"\{\w+\}", text))

    own, english = (dict(texts(wording(one).texts)) for one in (language, "en"))
    own = {name: places for name, places in own.items() if not name.startswith("reasons.")}

    assert {name: english.get(name) for name in own} == own
