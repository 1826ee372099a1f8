"""What stands in the way of a text is never taken for one, and a text about such things is no wall."""

import json
import tomllib
from pathlib import Path

import pytest

from agents.core.errors import SourceError
from agents.web.html_text import read_html
from agents.web.reader import read_here
from agents.web.walls import (
    CONSENT,
    EMPTY,
    LOG_IN,
    MAINTENANCE,
    NETWORK,
    NOT_FOUND,
    PARKED,
    PAYWALL,
    REGION,
    ROBOT_CHECK,
    SCRIPT,
    TEASER,
    wall_of,
)

DATA = Path(__file__).parent.parent / "data"
CASES = DATA / "cases"
URL = "https://www.site.example/a"
STORY = "The ferry line between Telmar and Brindle was closed on twelve days. The limit is 18 centimetres. "


def page(body, title="Ice days", head=""):
    return f"<!doctype html><html lang='en'><head><title>{title}</title>{head}</head><body>{body}</body></html>"


def reason(html, url=URL, *, text=None):
    wall = wall_of(html, read_html(html, url).text if text is None else text, url)
    return wall.reason if wall and wall.kind != "partial" else ""


def case(name):
    return (CASES / "C26" / name).read_text("utf-8")


@pytest.mark.parametrize("row", json.loads(case("expected.json")), ids=lambda row: row["file"])
def test_every_page_of_the_case_is_of_the_class_that_it_is(row):
    html = case(row["file"])
    wall = wall_of(html, read_html(html, URL).text, URL)

    assert (wall.kind if wall else "article") == row["class"]


PAGES = [json.loads(line) for line in (DATA / "walls.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", PAGES, ids=lambda row: row["html"][55:95])
def test_notices_in_many_languages_are_known_and_texts_with_their_words_are_read(row):
    wall = wall_of(row["html"], read_html(row["html"], row["url"]).text, row["url"])

    assert (wall.kind if wall else "article") == row["is"]


@pytest.mark.parametrize("name", ["bot_check", "js_shell", "soft_404", "login_wall", "region_block"])
def test_nothing_can_be_quoted_out_of_a_wall(name):
    with pytest.raises(SourceError) as caught:
        read_here(case(f"{name}.html").encode(), "text/html", URL)

    assert caught.value.reason in {ROBOT_CHECK, SCRIPT, NOT_FOUND, LOG_IN, REGION}


def test_a_teaser_gives_what_is_free_and_says_that_it_is_not_all():
    found = read_here(case("paywall_teaser.html").encode(), "text/html", URL)

    assert "was closed on twelve days last winter" in found.text
    assert "Subscribe" not in found.text
    assert found.gaps == (TEASER,)


def test_the_article_behind_an_overlay_is_read_whole():
    found = read_here(case("cookie_banner_then_article.html").encode(), "text/html", URL)

    assert "closed on twelve days in the winter of 2022/23" in found.text
    assert "on 23 days" in found.text
    assert "partners store and read" not in found.text
    assert found.gaps == ()


CHALLENGE = "<p>Enable JavaScript and cookies to continue</p><script src='/cdn-cgi/challenge-platform/x'></script>"
HOLD = "<p>Press &amp; Hold to confirm you are a human (and not a bot). Reference ID 7f9b1f2eeb</p>"
ROBOTER = "<p>Bevor Sie fortfahren, bestätigen Sie es bitte. JavaScript muss aktiviert sein.</p>"
COOKIES = "<p>We use cookies and share personal data with our 300 partners.</p><p>Accept all or reject all.</p>"
GDPR = "<p>Due to the GDPR of the EU this site is unavailable to you.</p>"


@pytest.mark.parametrize(
    ("html", "said"),
    [
        (
            page("<h1>Checking your browser</h1><p>Please wait. This process is automatic.</p>", "Just a moment"),
            ROBOT_CHECK,
        ),
        (page(CHALLENGE, "Just a moment..."), ROBOT_CHECK),
        (page(f"<h1>Access denied</h1>{HOLD}"), ROBOT_CHECK),
        (page("<h1>Pardon Our Interruption</h1><p>To continue, please complete the captcha.</p>"), ROBOT_CHECK),
        (page(f"<h1>Ihr Browser wird überprüft</h1>{ROBOTER}", "Kein Roboter?"), ROBOT_CHECK),
        (page("<h1>Sign in</h1><form><input type='email'><input type='password'></form>", "Sign in"), LOG_IN),
        (page("<h1>Anmelden</h1><form>Passwort <input name=p type=password></form>", "Anmelden"), LOG_IN),
        (page("<p>This content is currently not available in your country.</p>"), REGION),
        (page(GDPR, "Unavailable for legal reasons"), REGION),
        (page("<h1>404</h1><p>Sorry!</p>", "Oops"), NOT_FOUND),
        (page("<h1>Seite nicht gefunden</h1><p>Die Seite wurde verschoben.</p>"), NOT_FOUND),
        (page("<h1>Page introuvable</h1><p>Retour à l’accueil.</p>"), NOT_FOUND),
        (page(f"<div>{COOKIES}</div>"), CONSENT),
        (page("<p>This article is for subscribers.</p>"), PAYWALL),
        (page("<div id='__next'></div><script src='x.js'></script>"), SCRIPT),
        (page("<p>Please enable JavaScript to view this page.</p>"), SCRIPT),
        (page("<h1>orvane.example</h1><p>This domain is for sale. Make an offer.</p>"), PARKED),
        (page("<p>Diese Domain steht zum Verkauf.</p>"), PARKED),
        (page("<h1>We'll be back soon</h1><p>The site is down for scheduled maintenance.</p>"), MAINTENANCE),
        (page("<h1>Wartungsarbeiten</h1><p>Bitte versuchen Sie es später.</p>"), MAINTENANCE),
        (page("<h1>Blocked</h1><p>This page was blocked by your network administrator.</p>"), NETWORK),
        (page(""), EMPTY),
        (page("<p>–</p>"), EMPTY),
    ],
)
def test_walls_are_known_for_what_they_are(html, said):
    assert reason(html) == said


SOLVED = "You solve the captcha before you can continue, and your browser is being checked."
PAID = "<p>Readers subscribe to read more: so say publishers.</p>"
MAP = "<noscript>Enable JavaScript for the map.</noscript>"


def times(count, more=""):
    return f"<p>{STORY}{more}</p>" * count


@pytest.mark.parametrize(
    "html",
    [
        page(f"<article><h1>Are you a robot? Of captchas</h1>{times(2, SOLVED)}</article>", "Are you a robot?"),
        page(f"<h1>Why sites check that you are not a robot</h1>{times(8, 'A captcha is a puzzle.')}", "Captcha"),
        page(f"<h1>Who may log in</h1>{times(3)}<p>Members log in with a password.</p>", "How to log in"),
        page(f"<h1>Error 404: the history of a number</h1>{times(8)}", "404"),
        page(f"<article><h1>Species not found for decades</h1>{times(3)}</article>", "Species not found"),
        page(f"<h1>Cookies</h1>{times(9, 'Bakers accept that cookies need sugar.')}", "Cookies"),
        page(f"<h1>Ice days</h1>{times(2)}<form><input type='password'></form>"),
        page(f"<h1>Ice days</h1>{times(3)}{PAID}{times(4)}"),
        page(f"<h1>Ice days</h1>{times(1)}{MAP}{times(2)}"),
        page("<h1>Ice days</h1><p>Closed today.</p>"),
        page("<p>Page 1.</p>", ""),
        page(f"<article><h1>The ferry is under maintenance</h1>{times(3)}</article>", "Maintenance"),
        page(f"<article>{times(3)}</article><div class='g-recaptcha'></div>", "Contact and security check"),
    ],
)
def test_texts_about_walls_are_texts(html):
    assert reason(html) == ""
    assert wall_of(html, read_html(html, URL).text, URL) is None


def test_a_document_that_the_user_gave_is_no_notice_whatever_it_says():
    html = page("<h1>Page not found</h1><p>The page you are looking for does not exist.</p>").encode()

    assert "does not exist" in read_here(html, "text/html", "upload:/notes.html").text
    with pytest.raises(SourceError, match="no such page"):
        read_here(html, "text/html", URL)


def test_a_full_text_that_calls_itself_paid_is_not_a_teaser():
    head = "<script type='application/ld+json'>{'isAccessibleForFree': false}</script>"

    assert wall_of(page(f"<article>{f'<p>{STORY}</p>' * 5}</article>", head=head), STORY * 5, URL) is None


def test_a_page_behind_a_log_in_address_is_one_when_it_has_the_field():
    html = page("<h1>Welcome</h1><p>Your name and your secret, please.</p><input type='password'>")

    assert reason(html, "https://www.site.example/login?next=/a") == LOG_IN


NOTICES = tomllib.loads((DATA / "notices.toml").read_text("utf-8"))
REASONS = {
    "region": REGION, "parked": PARKED, "maintenance": MAINTENANCE, "network": NETWORK,
    "consent": CONSENT, "not_found": NOT_FOUND, "robot": ROBOT_CHECK,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "notice"), [(kind, one) for kind, notices in NOTICES.items() for one in notices])
def test_notices_of_many_languages_are_known_for_what_they_are(kind, notice):
    head = notice.split(". ")[0].split("! ")[0]

    assert reason(page(f"<h1>{head}</h1><p>{notice}</p>", "site.example")) == REASONS[kind]


@pytest.mark.parametrize(
    "text",
    [
        "The domain was for sale in 2004, and the harbour office bought it for 400 crowns. Its site was closed for"
        " maintenance for two days in May 2010, and was not available in some countries.",
        "Das Kraftwerk war 1994 wegen Wartungsarbeiten drei Wochen außer Betrieb. Seitdem läuft es ohne Unterbrechung.",
        "Le barrage est en maintenance depuis mai 1994. Les travaux ont coûté 412 millions de couronnes.",
        "该水库于1994年进行系统维护，费用为412万元。此后一直正常运行。",
        "The streaming service is not available in Canada, said the minister in 1994.",
    ],
)
def test_short_texts_with_the_words_of_notices_are_texts(text):
    assert reason(page(f"<div><h1>Orvelle dam</h1><p>{text}</p></div>", "Orvelle dam")) == ""
