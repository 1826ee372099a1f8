"""Inline Markdown mended: links, pictures, tags, placeholders, stray marks and stray formula delimiters of one line."""

import re
from collections.abc import Callable, Collection

from agents.contracts.finding import FACT_MARK
from agents.report import maths
from agents.report.citation_marks import PLACEHOLDER, URL, canonical_key, find_marks, trimmed_url
from agents.report.escaping import cleaned, is_safe, link_target

# Private-use characters stand for what is finished; `cleaned` takes them out of every text first.
_KEPT = re.compile("\ue000(\\d+)\ue001")
_GONE = "\ue002"
_GONE_AT_END = re.compile(rf"[^\S\n]*{_GONE}(?:\s*{_GONE})*(?=\s*(?:[.,;:!?…)。、，；：！？]|$))")
_COMMA_LEFT = re.compile(rf"[,;]\s*(?={_GONE}\s*[.!?…])")
_GONE_WITHIN = re.compile(rf"[^\S\n]*{_GONE}(?:\s*{_GONE})*[^\S\n]*")
_SPACES = re.compile(r"[^\S\u00a0\u202f]+")

_TARGET = r"\(\s*(<[^<>]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
_IMAGE = re.compile(r"!\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:" + _TARGET + r"|\[[^\[\]]*\])")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]" + _TARGET)
_AUTOLINK = re.compile(
    r"<((?:https?|mailto|ftp|javascript|data|vbscript):[^<>\s]*|[\w.+-]+@[\w-]+\.[\w.-]+)>", re.IGNORECASE
)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_FORMATTING = re.compile(
    r"</?(?:b|i|u|s|em|strong|small|big|sup|sub|span|p|div|font|mark|center|a|q|cite|abbr|h[1-6]|ul|ol|li|dl|dt|dd|hr"
    r"|table|thead|tbody|tr|td|th|blockquote|section|article|header|footer|details|summary|code|pre)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_FACT_NUMBERS = re.compile(r"[\[【［]\s*[fF]\s?\d+(?:\s*[,;–-]\s*[fF]?\s?\d+)*\s*[\]】］]")
_PRODUCT = re.compile(r"(?<=\d)\*(?=\d)")


def mended_line(text: str, known: Collection[str]) -> str:
    """Mend one line of inline Markdown.

    Args:
        text: one line, as a model or a stranger wrote it.
        known: canonical keys of the addresses that were retrieved; other links become their text, other bare addresses
            their host.
    """
    kept: list[str] = []

    def keep(piece: str) -> str:
        kept.append(piece)
        return f"\ue000{len(kept) - 1}\ue001"

    line = _fixed(_COMMENT.sub("", cleaned(text)), keep)
    while _IMAGE.search(line):
        line = _IMAGE.sub(lambda match: match[1], line)
    line = _BREAK.sub(" ", line)

    def linked(match: re.Match[str]) -> str:
        words, address = match[1], match[2].strip("<>")
        if not words.strip() or _is_mark(words):
            return _GONE
        if _is_known(address, known):
            return keep("[") + words + keep(f"]({link_target(address)})")
        return words

    def bare(match: re.Match[str]) -> str:
        url = trimmed_url(match[0])
        rest = match[0][len(url) :]
        address = url if "://" in url else f"https://{url}"
        if _is_known(address, known):
            return keep(f"<{link_target(address)}>") + rest
        inside_brackets = line[match.start() - 1 : match.start()] == "(" and rest.startswith(")")
        return (_GONE if inside_brackets else _host(url)) + rest

    line = _LINK.sub(linked, line)
    line = _AUTOLINK.sub(lambda match: match[1], line)
    line = URL.sub(bare, line)
    line = re.sub(rf"\(\s*{_GONE}\s*\)", _GONE, line)
    line = _FORMATTING.sub("", line)
    line = PLACEHOLDER.sub(_GONE, line)
    line = _without_marks(_FACT_NUMBERS.sub(_GONE, line))
    line = _TAG.sub(r"\\<", line)
    line = re.sub(r"[\[\]]", lambda match: "\\" + match[0], line)
    line = re.sub(r"[$~]", lambda match: "\\" + match[0], line)
    line = _PRODUCT.sub(r"\\*", line)
    line = re.sub(rf"{_GONE}[\s,;]*(?={_GONE})", "", line)  # what stood between two stray marks
    line = _GONE_WITHIN.sub(" ", _GONE_AT_END.sub("", _COMMA_LEFT.sub("", line)))
    while _KEPT.search(line):
        line = _KEPT.sub(lambda match: kept[int(match[1])], line)
    return _SPACES.sub(" ", line).strip()


def _fixed(text: str, keep: Callable[[str], str]) -> str:
    """Set aside fact marks, code, escapes and formulas; formulas come out between dollars, which every reader knows."""
    out, last = "", 0
    for piece in maths.pieces(text):
        out += text[last : piece.start]
        if isinstance(piece, maths.Formula):
            inside = " ".join(piece.tex.split())
            out += keep(f"$${inside}$$" if piece.display else f"${inside}$")
        else:
            out += keep(text[piece.start : piece.end])
        last = piece.end
    return FACT_MARK.sub(lambda match: keep(match[0]), out + text[last:])


def _is_known(address: str, known: Collection[str]) -> bool:
    return is_safe(address) and canonical_key(address) in known


def _is_mark(words: str) -> bool:
    text = words.strip()
    return text.isdigit() or any(mark.start == 0 and mark.end == len(text) for mark in find_marks(text))


def _without_marks(line: str) -> str:
    for mark in reversed(list(find_marks(line))):
        line = line[: mark.start] + _GONE + line[mark.end :]
    return line


def _host(url: str) -> str:
    return re.sub(r"^(?:https?://)?(?:www\.)?", "", url, flags=re.IGNORECASE).split("/")[0].split("?")[0]
