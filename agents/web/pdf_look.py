"""Whether a reader sees the letters of a PDF page, how they are set and struck; what its forms hold. By PDFium."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, hypot, sqrt

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as raw  # type: ignore[import-untyped]
from pypdfium2 import PdfMatrix

from agents.nlp.tokens import one_line
from agents.web.pdf_layout import Word

_GRID = 2  # points, by which it is told whether letters lie over one another
_MOST_LAYERS = 4  # of them
_SPECK = 1.5  # points of a letter that nobody can read
_NEAR = 16  # of 255, what parts a colour from the one that it lies on; thin letters are drawn paler than they are
_MOST_PIXELS = 12_000_000  # of a page that is drawn: one a point for all but posters and plans
_BAR = 2.5  # points of height of a line
_MOST_RULES = 4_000
_MAX_DEPTH = 4
_RAISED = 0.22  # of the size, how far above the baseline a figure of a font's own raised ones begins
_LOWERED = -0.06
_LOW = 0.55  # of the size, the height of such a figure at most

Box = tuple[float, float, float, float]
Style = tuple[float, float]
Rule = tuple[float, float, float]
"""A level line: its height, and from where to where it goes."""


@dataclass(frozen=True)
class _Ink:
    size: float
    baseline: float
    font: int


class Look:
    """How the characters of a page are set, and whether a reader sees them.

    A page is drawn with its letters and without them: where both are alike, there is a word that nobody sees, whether it
    has no ink or the colour of its ground, lies under something or on a layer that is switched off. Letters that lie over
    one another are drawn apart.
    """

    def __init__(self, page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage) -> None:
        self._page, self.text_page = page, text_page
        self._edges: Box = page.get_bbox()
        self._known: dict[int, _Ink] = {}
        self._texts: dict[int, tuple[raw.FPDF_PAGEOBJECT, Box, int]] = {}
        """Letters that are drawn together, by their address: with the place that they take, and their layer."""
        self._taken: list[set[tuple[int, int]]] = [set()]
        self.pictured = 0.0
        """Square points of pictures."""
        self.bars: list[Rule] = []
        """All level lines."""
        self._look_through()

    def set(self, at: int, letter: str = "") -> Style:
        """Give the size of a character as it is drawn, and the height of its baseline.

        Fonts have raised and lowered figures of their own, and raised letters, as large as the others and on their line.
        """
        ink = self._of(at)
        if (letter.isalnum() or letter == "+") and ink.size:
            edges = [ctypes.c_double() for _ in range(4)]
            raw.FPDFText_GetCharBox(self.text_page, at, edges[0], edges[1], edges[2], edges[3])
            low, high = ((edges[n].value - ink.baseline) / ink.size for n in (2, 3))
            if high - low < _LOW and (low > _RAISED or (low < _LOWERED and letter.isdigit())):
                return 0.6 * ink.size, ink.baseline + (0.35 if low > 0 else -0.15) * ink.size
        return ink.size, ink.baseline

    def font(self, at: int) -> int:
        """Give a number that tells the font of a character from others."""
        return self._of(at).font

    def shows(self, at: int, word: Word) -> bool:
        """Tell whether a reader sees a word that begins at this character, and not as struck.

        The letters below a scanned page say what it shows.
        """
        if word.top - word.bottom < _SPECK or self.is_struck(word):
            return False
        thing = raw.FPDFText_GetTextObject(self.text_page, at)
        _, _, layer = self._texts.get(_address(thing), (None, None, 0))
        return self._is_drawn((word.left, word.bottom, word.right, word.top), layer) or self._is_scan

    @cached_property
    def _is_scan(self) -> bool:
        """Tell a page that is a picture, with letters below it or without ink on it."""
        left, bottom, right, top = self._edges
        is_picture = self.pictured >= 0.5 * (right - left) * (top - bottom)
        return is_picture and 2 * sum(self._is_drawn(box, layer) for _, box, layer in self._texts.values()) < len(
            self._texts
        )

    def is_struck(self, word: Word) -> bool:
        """Tell a word with a line through all of it."""
        size, width = word.size or word.top - word.bottom, word.right - word.left
        low, high = word.baseline + 0.15 * size, word.baseline + 0.5 * size
        through = ((left, right) for place, left, right in self.bars if low <= place <= high)
        return any(min(right, word.right) - max(left, word.left) > 0.9 * width for left, right in through)

    @cached_property
    def _drawings(self) -> tuple[float, int, list[memoryview]]:
        """The page as a viewer draws it: pixels of a point, bytes of a row, without its letters and with those of each layer."""
        width, height = self._page.get_size()
        scale = min(1, sqrt(_MOST_PIXELS / max(1, width * height)))
        drawn = []
        for layer in range(-1, len(self._taken)):
            for thing, _, own in self._texts.values():
                raw.FPDFPageObj_SetIsActive(thing, own == layer)
            drawn.append(self._page.render(scale=scale, rotation=-self._page.get_rotation() % 360))
        return scale, drawn[0].stride, [memoryview(one.buffer).cast("B") for one in drawn]

    def _is_drawn(self, box: Box, layer: int) -> bool:
        """Tell whether the letters of a layer can be told in a box from what they lie on."""
        scale, stride, (empty, *written) = self._drawings
        edge, _, _, top = self._edges
        first, last = (3 * max(0, int((side - edge) * scale)) for side in (box[0], box[2]))
        for row in range(max(0, int((top - box[3]) * scale)), int((top - box[1]) * scale) + 1):
            place = slice(row * stride + first, row * stride + min(last + 3, stride))
            one, other = written[layer][place], empty[place]
            if one != other and any(abs(a - b) >= _NEAR for a, b in zip(one, other, strict=True)):
                return True
        return False

    def _of(self, at: int) -> _Ink:
        thing = raw.FPDFText_GetTextObject(self.text_page, at)
        address = _address(thing) or -at
        if address not in self._known:
            matrix, across, up = raw.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
            raw.FPDFText_GetMatrix(self.text_page, at, matrix)
            raw.FPDFText_GetCharOrigin(self.text_page, at, across, up)
            size = raw.FPDFText_GetFontSize(self.text_page, at) * hypot(matrix.c, matrix.d)
            font = raw.FPDFTextObj_GetFont(thing) if thing else None
            number = ctypes.addressof(font.contents) if font else 0
            self._known[address] = _Ink(round(size, 2), round(up.value, 2), number)
        return self._known[address]

    def _look_through(self) -> None:
        """Note the letters and lines of a page, and how much of it are pictures."""
        things = _things(raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject, self._page)
        for thing, kind, moved in things:
            edges = [ctypes.c_float() for _ in range(4)]
            raw.FPDFPageObj_GetBounds(thing, *edges)
            left, bottom, right, top = (edge.value for edge in edges)
            box = moved.on_rect(left, bottom, right, top) if moved else (left, bottom, right, top)
            if kind == raw.FPDF_PAGEOBJ_TEXT:
                self._texts[_address(thing)] = thing, box, self._layer(box)
            elif kind == raw.FPDF_PAGEOBJ_IMAGE:
                self.pictured += (box[2] - box[0]) * (box[3] - box[1])
            elif kind == raw.FPDF_PAGEOBJ_PATH and box[3] - box[1] < _BAR and len(self.bars) < _MOST_RULES:
                self.bars.append(((box[1] + box[3]) / 2, box[0], box[2]))

    def _layer(self, box: Box) -> int:
        """Give the first layer in which nothing else takes the place of letters yet."""
        height = round((box[1] + box[3]) / 2 / _GRID)
        places = {(height, at) for at in range(ceil(box[0] / _GRID), int(box[2] / _GRID))}
        free = (at for at, taken in enumerate(self._taken) if taken.isdisjoint(places))
        layer = next(free, min(len(self._taken), _MOST_LAYERS - 1))
        self._taken += [set()] * (layer == len(self._taken))
        self._taken[layer] |= places
        return layer


def _address(thing: raw.FPDF_PAGEOBJECT) -> int:
    return ctypes.addressof(thing.contents) if thing else 0


def _things(
    count: Callable[..., int], get: Callable[..., raw.FPDF_PAGEOBJECT], page: object, moved: PdfMatrix | None = None, depth: int = 1
) -> Iterator[tuple[raw.FPDF_PAGEOBJECT, int, PdfMatrix | None]]:  # fmt: skip
    """Walk what is drawn on a page or in a form, into the forms within; None is moved nowhere."""
    for thing in (get(page, at) for at in range(count(page))):
        kind = raw.FPDFPageObj_GetType(thing)
        if kind == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH:
            inner = _matrix_of(thing, moved)
            yield from _things(raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, thing, inner, depth + 1)
        else:
            yield thing, kind, moved


def _matrix_of(thing: raw.FPDF_PAGEOBJECT, moved: PdfMatrix | None) -> PdfMatrix:
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(thing, matrix)
    own = PdfMatrix.from_raw(matrix)
    return own.multiply(moved) if moved else own


_TICKED = frozenset({raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON})
_TYPED = frozenset({raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX})
_UNSEEN, _PASSWORD = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW, 1 << 13


def with_fields(words: list[Word], page: pypdfium2.PdfPage) -> list[Word]:
    """Put what was typed into the fields of a form behind the words that stand left of them, or above."""
    if page.formenv is None:
        return words
    for at in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, at)
        kind = raw.FPDFAnnot_GetFormFieldType(page.formenv, annotation)
        is_secret = raw.FPDFAnnot_GetFlags(annotation) & _UNSEEN or (
            raw.FPDFAnnot_GetFormFieldFlags(page.formenv, annotation) & _PASSWORD
        )
        value = one_line(_value_of(page.formenv, annotation)) if kind in _TYPED and not is_secret else ""
        if kind in _TICKED and raw.FPDFAnnot_IsChecked(page.formenv, annotation):
            value = "[x]"
        if value:
            box = raw.FS_RECTF()
            raw.FPDFAnnot_GetRect(annotation, box)
            level = [
                at
                for at, word in enumerate(words, start=1)
                if box.bottom - 2 <= (word.bottom + word.top) / 2 <= box.top + 2 and word.left < box.left
            ]
            place = max(
                level or [at for at, word in enumerate(words, start=1) if word.bottom >= box.top - 2], default=0
            )
            # The letters of a field are set as high as those around it, so that lines stay lines.
            height = words[place - 1].top - words[place - 1].bottom if place else box.top - box.bottom
            low = words[place - 1].bottom if level else box.bottom
            words.insert(place, Word(value, box.left, box.right, low, low + height, ends_line=True))
            if level:
                words[place - 1] = replace(words[place - 1], ends_line=False)
        raw.FPDFPage_CloseAnnot(annotation)
    return words


def _value_of(form: pypdfium2.PdfFormEnv, annotation: raw.FPDF_ANNOTATION) -> str:
    options = range(max(0, raw.FPDFAnnot_GetOptionCount(form, annotation)))
    chosen = [at for at in options if raw.FPDFAnnot_IsOptionSelected(form, annotation, at)]
    labels = [_written(lambda *to, n=at: raw.FPDFAnnot_GetOptionLabel(form, annotation, n, *to)) for at in chosen]
    return ", ".join(labels) or _written(lambda *to: raw.FPDFAnnot_GetFormFieldValue(form, annotation, *to))


def _written(ask: Callable[..., int]) -> str:
    """Ask the library for a text: first for its size, then for its letters."""
    size = ask(None, 0)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    ask(buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "ignore").rstrip("\0")
