"""The links of a page's own text to pages of the same site: what a sweep may follow one step."""

from lxml import html

from agents.nlp.normalize import one_line
from agents.web.url_key import canonical, link, same_site, worth_following

MOST = 60
"""Links of one page that are kept, in the order of the page."""

MAX_LABEL = 160

_FRAME = frozenset(("nav", "header", "footer", "aside", "form"))

Links = tuple[tuple[str, str], ...]
"""Address and label of each link."""


def links_of(tree: html.HtmlElement, url: str) -> Links:
    """Give the links in the text of a page, each address once; those of menus, margins and footers are left out.

    Args:
        tree: the page, without what no reader sees.
        url: where the page was found.
    """
    found: dict[str, tuple[str, str]] = {canonical(url): (url, "")}
    for anchor in tree.iter("a"):
        address = link(url, anchor.get("href") or "")
        if not address or not same_site(address, url) or not worth_following(address):
            continue
        label = one_line(anchor.text_content())[:MAX_LABEL]
        if label and not any(above.tag in _FRAME for above in anchor.iterancestors()):
            found.setdefault(canonical(address), (address, label))
        if len(found) > MOST:
            break
    return tuple(found.values())[1:]
