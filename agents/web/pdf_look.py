"""Whether a reader sees the letters of a PDF page, how they are set and struck; what its forms hold. By PDFium."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot
from typing import Literal

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as raw  # type: ignore[import-untyped]
from pypdfium2 import PdfMatrix

from agents.nlp.tokens import one_line
from agents.web.pdf_layout import Word
from agents.web.pdf_tables import Rule

_SPECK = 1.5  # points of a letter that nobody can read
_FAINT = 12  # of 255, what parts ink from nothing
_NEAR = 24  # of 255, what parts a colour from the one that it lies on
_STROKED, _WITH_STROKE, _INVISIBLE = 1, {2, 5, 6}, {3, 7}  # ways of drawing letters
_PLAIN = 20  # parts of a shape that fills its box: a rectangle, with round corners or without
_SCALE = 2  # pixels of a point, where a page is drawn
_BOX = 6  # parts of a rectangle
_BAR = 2.5  # points of height of a line
_MAX_SHAPES = 400  # of a page; maps and charts have thousands, of which the largest are kept
_MAX_DEPTH = 4
_RAISED = 0.22  # of the size, how far above the baseline a figure of a font's own raised ones begins
_LOWERED = -0.06
_LOW = 0.55  # of the size, the height of such a figure at most

Box = tuple[float, float, float, float]
Style = tuple[float, float]
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class _Shape:
    """Something drawn that may lie under letters, over them or through them."""

    at: int
    """Its place in the order of drawing."""
    kind: Literal["picture", "plain", "frame", "other"]
    box: Box
    colour: Colour | None
    opaque: bool


@dataclass(frozen=True)
class _Ink:
    size: float
    baseline: float
    colour: Colour | Literal["none"] | None
    at: int
    font: int
    clip: Box | None
    """What of the page it is cut to."""
    veiled: bool
    """It is drawn with a mask, or as a part of something that is."""


class Look:
    """How the characters of a page are set, and whether a reader sees them.

    Not seen are words without ink, in the colour of what they lie on, off the page, under something, or as small as specks.
    Characters that are drawn together are set alike, so that each group is looked at once.
    """

    def __init__(self, page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, *, has_layers: bool = False) -> None:
        self._page, self._text_page = page, text_page
        self._edges: Box = page.get_bbox()
        self._known: dict[int, _Ink] = {}
        self._order: dict[int, tuple[int, Box | None, bool]] = {}
        self._has_layers = has_layers
        self._shapes: list[_Shape] = []
        self.bars: list[Box] = []
        """Level lines."""
        self.rules: tuple[list[Rule], list[Rule]] = [], []
        """All level and all upright lines, of frames too."""
        self._look_through()

    def set(self, at: int, letter: str = "") -> Style:
        """Give the size of a character as it is drawn, and the height of its baseline.

        Fonts have raised and lowered figures of their own, and raised letters, as large as the others and on their line.
        """
        ink = self._of(at)
        if (letter.isalnum() or letter == "+") and ink.size:
            edges = [ctypes.c_double() for _ in range(4)]
            raw.FPDFText_GetCharBox(self._text_page, at, edges[0], edges[1], edges[2], edges[3])
            low, high = ((edges[n].value - ink.baseline) / ink.size for n in (2, 3))
            if high - low < _LOW and (low > _RAISED or (low < _LOWERED and letter.isdigit())):
                return 0.6 * ink.size, ink.baseline + (0.35 if low > 0 else -0.15) * ink.size
        return ink.size, ink.baseline

    def font(self, at: int) -> int:
        """Give a number that tells the font of a character from others."""
        return self._of(at).font

    def shows(self, at: int, word: Word) -> bool:
        """Tell whether a reader sees a word that begins at this character, and not as struck."""
        left, bottom, right, top = self._edges
        if word.right < left or word.left > right or word.top < bottom or word.bottom > top:
            return False
        ink = self._of(at)
        if word.top - word.bottom < _SPECK or self.is_struck(word) or (ink.clip and not _holds(ink.clip, word)):
            return False
        around = [shape for shape in self._shapes if _holds(shape.box, word)]
        is_unsure = self._has_layers or ink.veiled or any(shape.kind == "frame" for shape in around)
        if is_unsure and not self._is_drawn(word):
            return False
        over = [shape for shape in around if shape.at > ink.at and shape.opaque]
        if ink.colour == "none" or any(shape.kind == "picture" for shape in over):
            return self._is_scan and not any(shape.kind == "plain" for shape in over)
        if over:
            return False
        under = max((shape for shape in around if shape.at < ink.at), key=lambda shape: shape.at, default=None)
        ground = (255, 255, 255) if under is None else under.colour
        if ink.colour is None or ground is None:
            return True
        return any(abs(a - b) >= _NEAR for a, b in zip(ink.colour, ground, strict=True))

    @cached_property
    def _is_scan(self) -> bool:
        """Tell a page that is a picture, with letters below it or without ink on it: what a scan says."""
        pictures = [shape for shape in self._shapes if shape.kind == "picture"]
        if sum(_area(shape.box) for shape in pictures) < 0.5 * _area(self._edges):
            return False
        marks = [self._of(at) for at in range(raw.FPDFText_CountChars(self._text_page))]
        last = max((shape.at for shape in pictures), default=0)
        return 2 * sum(ink.colour == "none" or ink.at < last for ink in marks) > len(marks)

    def through(self, word: Word) -> list[tuple[float, float]]:
        """Give from where to where lines are drawn through a word."""
        size = word.size or word.top - word.bottom
        low, high = word.baseline + 0.15 * size, word.baseline + 0.5 * size
        return [
            (left, right)
            for left, bottom, right, top in self.bars
            if low <= (bottom + top) / 2 <= high and left < word.right and right > word.left
        ]

    @cached_property
    def _picture(self) -> tuple[bytes, int, int]:
        """The page as a viewer draws it, in grey, with its layers: its bytes, their number in a row, and of rows."""
        drawn = self._page.render(scale=_SCALE, grayscale=True)
        return bytes(drawn.buffer), drawn.stride, drawn.height

    def _is_drawn(self, word: Word) -> bool:
        """Tell a word that a viewer draws: of a layer that is switched on, or in a frame."""
        pixels, stride, height = self._picture
        left, _, _, top = self._edges
        first, last = (max(0, int((edge - left) * _SCALE)) for edge in (word.left, word.right))
        rows = range(max(0, int((top - word.top) * _SCALE)), min(height, int((top - word.bottom) * _SCALE) + 1))
        seen = [pixels[row * stride + first : row * stride + min(last + 1, stride)] for row in rows]
        return max(map(max, filter(None, seen)), default=0) - min(map(min, filter(None, seen)), default=0) > _NEAR

    def is_struck(self, word: Word) -> bool:
        """Tell a word with a line through all of it."""
        width = word.right - word.left
        return any(min(right, word.right) - max(left, word.left) > 0.9 * width for left, right in self.through(word))

    def _of(self, at: int) -> _Ink:
        thing = raw.FPDFText_GetTextObject(self._text_page, at)
        address = ctypes.addressof(thing.contents) if thing else -at
        if address not in self._known:
            self._known[address] = self._looked_at(at, thing, address)
        return self._known[address]

    def _looked_at(self, at: int, thing: raw.FPDF_PAGEOBJECT, address: int) -> _Ink:
        matrix, across, up = raw.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetMatrix(self._text_page, at, matrix)
        raw.FPDFText_GetCharOrigin(self._text_page, at, across, up)
        size = raw.FPDFText_GetFontSize(self._text_page, at) * hypot(matrix.c, matrix.d)
        mode = raw.FPDFTextObj_GetTextRenderMode(thing) if thing else 0
        ask = raw.FPDFText_GetStrokeColor if mode == _STROKED else raw.FPDFText_GetFillColor
        parts = [ctypes.c_uint() for _ in range(4)]
        colour: Colour | Literal["none"] | None = None
        if mode in _INVISIBLE:
            colour = "none"
        elif mode not in _WITH_STROKE and ask(self._text_page, at, *parts):
            red, green, blue, alpha = (part.value for part in parts)
            colour = "none" if alpha < _FAINT else (red, green, blue)
        font = raw.FPDFTextObj_GetFont(thing) if thing else None
        order, clip, veiled = self._order.get(address, (0, None, False))
        return _Ink(
            round(size, 2),
            round(up.value, 2),
            colour,
            order,
            ctypes.addressof(font.contents) if font else 0,
            clip,
            veiled,
        )

    def _look_through(self) -> None:
        """Note the order in which letters and shapes are drawn."""
        things = _things(raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject, self._page)
        for at, (thing, kind, moved, is_veiled) in enumerate(things, start=1):
            if kind == raw.FPDF_PAGEOBJ_TEXT:
                self._order[ctypes.addressof(thing.contents)] = at, _clip_of(thing, moved), is_veiled
            elif kind in {raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING}:
                edges = [ctypes.c_float() for _ in range(4)]
                raw.FPDFPageObj_GetBounds(thing, *edges)
                left, bottom, right, top = (edge.value for edge in edges)
                box = left, bottom, right, top
                self._note(at, thing, kind, moved.on_rect(*box) if moved else box)
                self._rule(thing, moved, (right - left, top - bottom))
        if len(self._shapes) > _MAX_SHAPES:
            self._shapes.sort(key=lambda one: -_area(one.box))
            del self._shapes[_MAX_SHAPES:]
        for at in range(raw.FPDFPage_GetAnnotCount(self._page)):
            mark = raw.FPDFPage_GetAnnot(self._page, at)
            if raw.FPDFAnnot_GetSubtype(mark) == raw.FPDF_ANNOT_STRIKEOUT:
                self.bars += _crossed(mark)
            raw.FPDFPage_CloseAnnot(mark)

    def _rule(self, thing: raw.FPDF_PAGEOBJECT, moved: PdfMatrix | None, size: tuple[float, float]) -> None:
        """Note the straight lines of a path."""
        count, filled, stroked = raw.FPDFPath_CountSegments(thing), ctypes.c_int(), ctypes.c_int()
        raw.FPDFPath_GetDrawMode(thing, filled, stroked)
        if filled.value and not stroked.value and count <= _BOX and min(size) > _BAR:
            return  # the ground of a cell, or of a whole row
        if not 1 < count <= _MAX_SHAPES or sum(map(len, self.rules)) > 10 * _MAX_SHAPES:
            return
        matrix, across, up, before = _matrix_of(thing, moved), ctypes.c_float(), ctypes.c_float(), (0.0, 0.0)
        for n in range(count):
            segment = raw.FPDFPath_GetPathSegment(thing, n)
            raw.FPDFPathSegment_GetPoint(segment, across, up)
            point = matrix.on_point(across.value, up.value)
            (left, right), (low, high) = (sorted(pair) for pair in zip(before, point, strict=True))
            if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO and high - low < _BAR:
                self.rules[0].append((low, left, right))
            elif raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO and right - left < _BAR:
                self.rules[1].append((left, low, high))
            before = point

    def _note(self, at: int, thing: raw.FPDF_PAGEOBJECT, kind: int, box: Box) -> None:
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            self._shapes.append(_Shape(at, "picture", box, None, not raw.FPDFPageObj_HasTransparency(thing)))
            return
        filled, stroked = ctypes.c_int(1), ctypes.c_int()
        if kind == raw.FPDF_PAGEOBJ_PATH:
            raw.FPDFPath_GetDrawMode(thing, filled, stroked)
            is_line = box[3] - box[1] <= _BAR and box[2] - box[0] > 3
            if is_line and (filled.value or stroked.value):
                self.bars.append(box)
        if not filled.value or box[3] - box[1] <= _BAR:
            return
        parts = [ctypes.c_uint() for _ in range(4)]
        known = kind == raw.FPDF_PAGEOBJ_PATH and raw.FPDFPageObj_GetFillColor(thing, *parts)
        red, green, blue, alpha = (part.value for part in parts)
        if known and alpha < _FAINT:
            return
        segments = raw.FPDFPath_CountSegments(thing) if known else 0
        is_plain = 0 < segments <= _PLAIN
        begins = [
            raw.FPDFPathSegment_GetType(raw.FPDFPath_GetPathSegment(thing, n)) == raw.FPDF_SEGMENT_MOVETO
            for n in range(segments if is_plain else 0)
        ]
        is_frame = sum(begins[:-1]) > 1  # such as the edges of a cell
        is_opaque = is_plain and not is_frame and alpha > 255 - _FAINT and not raw.FPDFPageObj_HasTransparency(thing)
        colour = (red, green, blue) if is_opaque else None
        self._shapes.append(
            _Shape(at, "frame" if is_frame else "plain" if is_plain else "other", box, colour, is_opaque)
        )


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _holds(box: Box, word: Word) -> bool:
    left, bottom, right, top = box
    return left <= (word.left + word.right) / 2 <= right and bottom <= (word.bottom + word.top) / 2 <= top


def _clip_of(thing: raw.FPDF_PAGEOBJECT, moved: PdfMatrix | None) -> Box | None:
    """Give the box to which a thing is cut; None where it is not."""
    clip = raw.FPDFPageObj_GetClipPath(thing)
    box: Box | None = None
    for path in range(raw.FPDFClipPath_CountPaths(clip) if clip else 0):
        points = []
        for at in range(max(0, raw.FPDFClipPath_CountPathSegments(clip, path))):
            across, up = ctypes.c_float(), ctypes.c_float()
            if raw.FPDFPathSegment_GetPoint(raw.FPDFClipPath_GetPathSegment(clip, path, at), across, up):
                points.append((across.value, up.value))
        if points:
            xs, ys = zip(*points, strict=True)
            within = min(xs), min(ys), max(xs), max(ys)
            left, bottom, right, top = moved.on_rect(*within) if moved else within
            over = box or (left, bottom, right, top)
            box = max(left, over[0]), max(bottom, over[1]), min(right, over[2]), min(top, over[3])
    return box


def _things(
    count: Callable[..., int], get: Callable[..., raw.FPDF_PAGEOBJECT], page: object, moved: PdfMatrix | None = None, depth: int = 1
) -> Iterator[tuple[raw.FPDF_PAGEOBJECT, int, PdfMatrix | None, bool]]:  # fmt: skip
    """Walk what is drawn on a page or in a form, in its order, into the forms within; None is moved nowhere.

    The last of what is told is whether it is drawn half, or with a mask.
    """
    for thing in (get(page, at) for at in range(count(page))):
        kind, is_veiled = raw.FPDFPageObj_GetType(thing), bool(raw.FPDFPageObj_HasTransparency(thing))
        if kind == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH:
            inner = _matrix_of(thing, moved)
            for one in _things(raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, thing, inner, depth + 1):
                yield *one[:3], one[3] or is_veiled
        else:
            yield thing, kind, moved, is_veiled


def _matrix_of(thing: raw.FPDF_PAGEOBJECT, moved: PdfMatrix | None) -> PdfMatrix:
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(thing, matrix)
    own = PdfMatrix.from_raw(matrix)
    return own.multiply(moved) if moved else own


def _crossed(mark: raw.FPDF_ANNOTATION) -> Iterator[Box]:
    """Give the lines that a reader's mark draws through letters."""
    quad = raw.FS_QUADPOINTSF()
    for at in range(raw.FPDFAnnot_CountAttachmentPoints(mark)):
        if raw.FPDFAnnot_GetAttachmentPoints(mark, at, quad):
            across, up = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
            middle = min(up) + 0.45 * (max(up) - min(up))
            yield min(across), middle, max(across), middle


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
