"""What may hold whatever comes in: any text, any address, any bytes."""

import contextlib
import re
import string

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agents.contracts.plan import PlanTree
from agents.core.model_answers import NoAnswer, read_answer
from agents.llm.chat_completions import ProviderAnswer
from agents.report.escaping import escape_text, own_links
from agents.report.parse_body import parse
from agents.report.write_markdown import markdown_of
from agents.research.scoping.authorization import PHRASE, authorizes
from agents.web.guard import Blocked, Guard
from agents.web.url_key import canonical, identity

ANY = st.text(max_size=300)
MARKS = st.text(alphabet="[]()<>!*_`#|$&\\~\"' \nhtp:/.ax1f", max_size=120)
MARKDOWN = MarkdownIt("gfm-like", {"linkify": True, "html": True})


@given(st.text(alphabet=string.ascii_letters + " ,;:?#>*\n", min_size=1, max_size=40), st.booleans())
def test_no_text_around_the_phrase_authorizes(around, before):
    message = f"{around}{PHRASE}" if before else f"{PHRASE}{around}"

    assert authorizes(message) == (around.strip() == "" and "\n" not in around.strip("\n "))


@given(ANY)
def test_only_the_phrase_authorizes(text):
    plain = text.strip().strip("\"'`“”„«»‘’.! ").casefold()

    assert not authorizes(text) or plain in {"authorized to execute", "authorised to execute"}


@given(MARKS)
def test_prose_of_a_model_never_becomes_a_picture_a_tag_or_a_link_to_a_site_that_was_not_cited(text):
    shown = MARKDOWN.render(
        markdown_of(parse(f"{text} ![x](http://evil.example/?a) http://evil.example/b", (), addresses=()))
    )

    assert "<img" not in shown and "evil.example/" not in shown and "<script" not in shown


PIECES = st.lists(
    st.sampled_from(
        "http|https|://|www.|evil.example|\\|:|/|//|&#58;|&#47;|&sol;|&colon;|[x]|(|](|]:|<|>|)|!|ht|tp|ww|w.|`|**|a| |\n|[x](/memory)".split(
            "|"
        )
    ),
    max_size=14,
).map("".join)
LINKING = MarkdownIt("gfm-like", {"linkify": True, "html": False})
LINKING.linkify.set({"fuzzy_link": False, "fuzzy_email": False})  # what the chat's page does not link either
for _scheme in ("//", "ftp:", "mailto:"):
    LINKING.linkify.add(_scheme, None)


@given(st.one_of(MARKS, PIECES))
def test_what_the_chat_says_leads_to_its_own_routes_only(text):
    said = own_links(text)

    assert all(
        to.startswith("/memory") or re.match(r"/\w|#", to)
        for to in re.findall('(?:href|src)="(.*?)"', LINKING.render(said))
    )
    assert own_links(said) == said
    assert own_links("**As** [it is](/memory) [\\[1\\]](/research/jobs/1#quote)").count("](/") == 2


@given(MARKS)
def test_an_escaped_line_shows_its_letters_and_makes_nothing_of_them(text):
    shown = MARKDOWN.render(escape_text(text.replace("http", "")))

    assert not any(tag in shown for tag in ("<a ", "<img", "<em>", "<strong>", "<h1", "<li", "<code"))


@given(ANY)
def test_a_broken_answer_is_refused_and_nothing_else_is_raised(text):
    with contextlib.suppress(NoAnswer, ValueError):
        read_answer(text, PlanTree, listed="leaves", cut=False, prose="")


FIELDS = st.sampled_from(
    (
        "choices",
        "message",
        "delta",
        "content",
        "text",
        "type",
        "tool_calls",
        "function",
        "arguments",
        "usage",
        "prompt_tokens",
        "completion_tokens",
        "completion_tokens_details",
        "reasoning",
        "refusal",
        "finish_reason",
        "output",
        "x_groq",
        "role",
    )
)


@given(
    st.dictionaries(
        FIELDS,
        st.recursive(
            st.none() | st.floats() | ANY,
            lambda of: st.lists(of, max_size=2) | st.dictionaries(FIELDS, of),
            max_leaves=9,
        ),
    )
)
def test_whatever_shape_a_servers_answer_has_its_words_are_taken_or_none(answer):
    taken = ProviderAnswer()

    taken.take(answer)

    assert isinstance(taken.text + taken.last_words + taken.refusal + taken.finish, str)
    assert min(*taken.counted, taken.thought_tokens) >= 0


@given(st.one_of(ANY, st.builds("http://{}".format, ANY), st.builds("http://a.example/{}".format, ANY)))
def test_an_address_has_a_key_whatever_it_is(url):
    key = canonical(url)

    assert key == canonical(f" {url}\n")
    assert isinstance(identity(url, ""), str)


@given(st.one_of(ANY, st.builds("http://{}".format, ANY)))
def test_an_address_is_judged_or_refused_whatever_it_is(url):
    with contextlib.suppress(Blocked):
        assert Guard().check(url).scheme in {"http", "https"}
