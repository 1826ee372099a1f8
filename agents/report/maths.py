"""Formulas in running text, told from amounts of money; and MathML, so that a page needs no script to set them."""

import re
from dataclasses import dataclass
from html import escape
from xml.etree import ElementTree

MAX_FORMULA = 400
"""Characters between two delimiters, at most; what is longer is text with stray dollar signs."""

# Left to right, the first alternative wins: code, escaped characters, then the four ways to delimit a formula.
_PIECE = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`)(?:.+?)(?<!`)(?P=ticks)(?!`))"
    r"|\\\((?P<round>.+?)\\\)"
    r"|\\\[(?P<square>.+?)\\\]"
    r"|(?P<escaped>\\[^\w\s])"
    r"|(?<!\$)\$\$(?!\$)(?P<double>.+?)(?<!\$)\$\$(?!\$)"
    r"|(?<![\w$])\$(?P<single>(?![\s$])[^$`]+?(?<![\s\\]))\$(?![\w$])",
    re.DOTALL,
)
_OPERATOR = re.compile(
    r"\\[a-zA-Z]+|[\^=<>≤≥≈±×·∈]|(?<![A-Za-z\\])_|(?<=\w)_(?=[\w{])|(?<=[\w)\]}])\s?[+/*-]\s?(?=[\w(\\])"
)
_CLEAR_OPERATOR = re.compile(r"\\[a-zA-Z]+|[\^=<>≤≥≈∈]|_")
NO_FORMULA = re.compile(r"\[#|\]\(|://|www\.|!\[")
"""What no formula holds: citations, links and pictures, which another reader of the text would show as such."""

_COMMAND = re.compile(r"\\(?:text|mathrm|operatorname)\s*\{[^{}]*\}|\\[a-zA-Z]+")
_PROSE = re.compile(r"[^\W\d_]{3,}[\s,;]+[^\W\d_]{3,}")


@dataclass(frozen=True)
class Formula:
    """A formula and where it stands, delimiters included."""

    start: int
    end: int
    tex: str
    display: bool


@dataclass(frozen=True)
class Fixed:
    """A stretch of inline Markdown that is taken as it is: code, or an escaped character."""

    start: int
    end: int


def pieces(text: str) -> tuple[Formula | Fixed, ...]:
    r"""Find the formulas, code spans and escaped characters of one paragraph, in order.

    A dollar sign opens a formula only where nothing else can be meant: `$3,500 to $5,000` is money, `$d = 12$` is not.
    `\( … \)` and `\[ … \]` count where the content looks like mathematics, for they may also be escaped brackets.
    """
    found: list[Formula | Fixed] = []
    at = 0
    while match := _PIECE.search(text, at):
        at = match.end()
        tex = next((match[name] for name in ("round", "square", "double", "single") if match[name] is not None), None)
        if tex is None:
            found.append(Fixed(match.start(), match.end()))
            continue
        dollar, spaced = match["single"] is not None, tex[:1].isspace() and tex[-1:].isspace()
        if _is_maths(tex, sure=match["double"] is not None or (spaced and not dollar)):
            display = match["double"] is not None or match["square"] is not None
            found.append(Formula(match.start(), match.end(), tex.strip(), display))
        else:
            # Only the opening delimiter is stepped over: what follows it may hold a formula of its own.
            at = match.start() + (1 if dollar else 2)
            if not dollar and match["double"] is None:
                found.append(Fixed(match.start(), at))
    return tuple(found)


def _is_maths(tex: str, *, sure: bool) -> bool:
    bare = _COMMAND.sub(" ", tex)
    if not tex.strip() or len(tex) > MAX_FORMULA or "\n\n" in tex or NO_FORMULA.search(tex) or _PROSE.search(bare):
        return False
    token = tex.strip()
    # What begins with a figure is an amount, unless it says very clearly that it is not.
    amount = token[0].isdigit() and not sure
    if _CLEAR_OPERATOR.search(tex) or (not amount and _OPERATOR.search(tex)):
        return True
    return (sure and not token.replace(",", "").replace(" ", "").isdigit()) or (
        len(token) <= 3 and token.isalnum() and not token.isdigit()
    )


# ---- MathML

_SYMBOLS = {
    name: symbol
    for names, symbols in (
        (
            "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi",
            "αβγδϵεζηθϑικλμνξ",
        ),
        ("pi varpi rho sigma tau upsilon phi varphi chi psi omega", "πϖρστυϕφχψω"),
        ("Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega", "ΓΔΘΛΞΠΣΥΦΨΩ"),
        ("times cdot div pm mp leq le geq ge neq ne approx sim equiv propto ll gg", "×·÷±∓≤≤≥≥≠≠≈∼≡∝≪≫"),
        ("sum prod int partial nabla infty in notin subset subseteq cup cap forall exists", "∑∏∫∂∇∞∈∉⊂⊆∪∩∀∃"),
        ("to rightarrow leftarrow Rightarrow leftrightarrow mapsto ldots dots cdots prime circ", "→→←⇒↔↦……⋯′∘"),
        ("langle rangle lfloor rfloor lceil rceil mid ast degree", "⟨⟩⌊⌋⌈⌉∣∗°"),
    )
    for name, symbol in zip(names.split(), symbols, strict=True)
}
_LETTERS = frozenset("αβγδϵεζηθϑικλμνξπϖρστυϕφχψωΓΔΘΛΞΠΣΥΦΨΩ∞")
_FUNCTIONS = frozenset(["sin", "cos", "tan", "log", "ln", "exp", "min", "max", "lim", "det", "arg", "sup", "inf", "Pr"])
_SPACES = frozenset({",", ";", ":", "!", " ", "quad", "qquad", "left", "right", "displaystyle", "limits", "nolimits"})
_UPRIGHT = frozenset({"text", "mathrm", "operatorname", "textbf", "mathbf", "textit", "mathit"})
_TOKEN = re.compile(r"\\([a-zA-Z]+|.)|(\d+(?:[.,]\d+)*)|(\s+)|(.)", re.DOTALL)


def mathml(tex: str, *, display: bool = False) -> str:
    """Set `tex` as a MathML element; what is not understood stands as its source in `<code>`, never lost."""
    body = tree(tex)
    if body is None:
        return f'<code class="tex">{escape(tex)}</code>'
    root = ElementTree.Element("math", {"display": "block"} if display else {})
    root.append(body)
    return ElementTree.tostring(root, encoding="unicode")


def tree(tex: str) -> ElementTree.Element | None:
    """Read `tex` into a row of MathML elements, for those who set it otherwise; None where it is not understood."""
    try:
        return _Reader(tex).row()
    except _NotUnderstood:
        return None


class _NotUnderstood(Exception):
    pass


class _Reader:
    """A recursive descent over the subset of LaTeX that reports use: fractions, roots, indices, symbols, words."""

    def __init__(self, tex: str) -> None:
        self.tokens = [match for match in _TOKEN.finditer(tex) if match[3] is None]
        self.raw = tex
        self.at = 0
        self.depth = 0

    def row(self, *, closing: str = "") -> ElementTree.Element:
        """Read up to `closing`, or to the end."""
        self.depth += 1
        if self.depth > 30:
            raise _NotUnderstood
        row = ElementTree.Element("mrow")
        while True:
            token = self._peek()
            if token is None:
                if closing:
                    raise _NotUnderstood
                break
            if closing and token[0] == closing:
                self.at += 1
                break
            atom = self._with_scripts()
            if atom is not None:
                row.append(atom)
        self.depth -= 1
        return row

    def _peek(self) -> "re.Match[str] | None":
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _with_scripts(self) -> ElementTree.Element | None:
        base = self._atom()
        scripts: dict[str, ElementTree.Element] = {}
        while (token := self._peek()) is not None and token[0] in ("_", "^") and token[0] not in scripts:
            self.at += 1
            script = self._atom()
            if script is None:
                raise _NotUnderstood
            scripts[token[0]] = script
        if not scripts:
            return base
        element = ElementTree.Element(
            {"_": "msub", "^": "msup", "_^": "msubsup"}["".join(sorted(scripts, reverse=True))]
        )
        element.append(base if base is not None else ElementTree.Element("mrow"))
        element.extend(scripts[name] for name in ("_", "^") if name in scripts)
        return element

    def _atom(self) -> ElementTree.Element | None:
        token = self._peek()
        if token is None:
            raise _NotUnderstood
        self.at += 1
        if token[1] is not None:
            return self._command(token[1])
        if token[2] is not None:
            return _leaf("mn", token[2])
        if token[0] == "{":
            return self.row(closing="}")
        if token[0] in "}_^&#$%":
            raise _NotUnderstood
        return _leaf("mi" if token[0].isalpha() else "mo", token[0])

    def _command(self, name: str) -> ElementTree.Element | None:
        if name in _SPACES:
            return None
        if name in ("frac", "dfrac", "tfrac", "sqrt"):
            element = ElementTree.Element("msqrt" if name == "sqrt" else "mfrac")
            for _ in range(1 if name == "sqrt" else 2):
                part = self._atom()
                if part is None:
                    raise _NotUnderstood
                element.append(part)
            return element
        if name in _UPRIGHT:
            return _leaf("mtext", self._words())
        if name in _FUNCTIONS:
            return _leaf("mi", name)
        if symbol := _SYMBOLS.get(name):
            return _leaf("mi" if symbol in _LETTERS else "mo", symbol)
        if name in "%$#&_{}|":
            return _leaf("mo", name)
        raise _NotUnderstood

    def _words(self) -> str:
        token = self._peek()
        if token is None or token[0] != "{":
            raise _NotUnderstood
        end = self.raw.find("}", token.end())
        if end < 0 or "{" in self.raw[token.end() : end]:
            raise _NotUnderstood
        while (inner := self._peek()) is not None and inner.start() <= end:
            self.at += 1
        return self.raw[token.end() : end]


def _leaf(tag: str, text: str) -> ElementTree.Element:
    element = ElementTree.Element(tag)
    element.text = text
    return element
