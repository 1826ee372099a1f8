"""What a reader sees of a text: no invisible characters, one way to write each letter, one space between words.

Words in any script: tokens, stems of content words, and a guess at the language.

Years in texts, and taking out those that come from nowhere: a model's training year has no place in a search.
"""

import re
import threading
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

import snowballstemmer

from agents.nlp import lang

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

HIDDEN_SHARE = 0.3
"""Share of invisible characters from which a text counts as disguised; honest spelling stays below a quarter."""

MIN_INVISIBLE = 8
"""Fewer invisible characters than this are a slip of an editor, whatever their share."""

# Soft hyphen; zero-width space, joiners and marks of direction; bidirectional embeddings, overrides and isolates;
# invisible operators; byte order mark; interlinear marks; tag characters and supplementary variation selectors.
_LIGATURE = re.compile("[\ufb00-\ufb06]")  # letters that a typesetter joined
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# Persian, Urdu and the Indic scripts spell with (non-)joiners: between their letters these two are part of the word.
_SPELLING = re.compile(
    "(?<=[\u0600-\u06ff\u0750-\u077f\u0900-\u0dff])[\u200c\u200d](?=[\u0600-\u06ff\u0750-\u077f\u0900-\u0dff])"
)
# With halves of surrogate pairs and the numbers that are no characters: XML and UTF-8 know neither.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_NEW_LINE = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SPACES = re.compile("[^\\S\n]+")
_BLANK_LINES = re.compile("\n{3,}")


_NUMBER_MARKS = str.maketrans("٫٬％٪，．", ".,%%,.")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")


def ascii_digits(text: str) -> str:
    """Write the digits and number marks of every script as ASCII ones; every character keeps its place."""
    if text.isascii():
        return text
    return _OTHER_DIGIT.sub(lambda one: str(unicodedata.decimal(one[0])), text.translate(_NUMBER_MARKS))


def disguised(text: str) -> bool:
    """Tell whether `text` is written letter by letter with invisible characters between.

    No honest page does that; it is how orders to a language model are slipped past a filter.
    """
    found = len(_INVISIBLE.findall(_SPELLING.sub("", text)))
    return found >= MIN_INVISIBLE and found > HIDDEN_SHARE * len(text)


def visible(text: str) -> str:
    """Drop what nobody can see, and write every letter in its composed form (NFC). Line breaks become newlines."""
    text = _NEW_LINE.sub("\n", text)
    if text.isascii():
        return _CONTROL.sub("", text)
    text = _INVISIBLE.sub(lambda one: one[0] if _SPELLING.match(one.string, one.start()) else "", text)
    text = _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return unicodedata.normalize("NFC", _CONTROL.sub("", text))


def seen(text: str) -> str:
    """Give the visible text without the lines that are disguised."""
    if _INVISIBLE.search(text):
        text = "\n".join(line for line in _NEW_LINE.sub("\n", text).split("\n") if not disguised(line))
    return visible(text)


def one_line(text: str) -> str:
    """Give the visible text with every run of white space as one space."""
    return " ".join(visible(text).split())


def collapsed(text: str) -> str:
    """Give single spaces within lines, no space at their ends, and at most one blank line between two."""
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def unruffled(text: str) -> str:
    """Like `collapsed`, but the inside of lines stays: columns of a plain text file stand on their spaces."""
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip("\n").rstrip()


LETTERED = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ede\u1000-\u103f\u1780-\u17d3"
"""Character class of scripts without spaces that write letters: Thai, Lao, Burmese, Khmer."""
SYLLABIC = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
)
"""Character class of those that write syllables or words: Chinese, Japanese, and Korean, whose particles stick."""
UNSPACED = LETTERED + SYLLABIC
"""Character class of the scripts without spaces, and of Korean."""

# Vowel signs and accents are marks, not letters, to `re`; without them words of Hindi or Arabic would fall apart.
MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0981-\u0df3"
"""Character class of the marks that belong to a word."""
TOKEN = re.compile(
    rf"(?P<run>[{UNSPACED}]+)"
    r"|(?P<number>\d{1,3}(?:[.,\u00a0\u202f\u2009]\d{3})+(?![\w.,]*\d)|\d+[.,]\d+(?![\w.,]*\d))"
    rf"|(?P<word>(?:[^\W_{UNSPACED}]+|[{MARKS}]+)+)"
)
"""One word, one number with its separators, or one run of characters of a script without spaces."""

_ASCII_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:[.,]\d{3})+(?![\w.,]*\d)|\d+[.,]\d+(?![\w.,]*\d))|(?P<word>[a-z0-9]+)", re.ASCII
)
_LETTERS_ONLY, _DIGIT = re.compile("[a-z]+"), re.compile("[0-9]")
"""What `TOKEN` finds in casefolded ASCII, with figures and without, in a quarter of the time."""
_GROUPED = re.compile(r"\d{1,3}(?:[.,\u00a0\u202f\u2009]\d{3})+")
_NOT_A_DIGIT = re.compile(r"\D")
_ACCENT = re.compile("[\u0300-\u036f]")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_SHORTEST = 4  # letters of a word that is stemmed
_LAST_LATIN = 0x24F
_ALGORITHMS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "es": "spanish", "fi": "finnish", "fr": "french",
    "hi": "hindi", "hu": "hungarian", "it": "italian", "nb": "norwegian", "nl": "dutch", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_SAMPLE = 4_000  # characters from which the language is guessed
_KEPT = 1_000
"""Characters of a text whose words are kept: the same questions, sentences and headings are asked about ten times over."""

_SCRIPTS = {
    "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CJK": "zh", "ARABIC": "ar", "CYRILLIC": "ru", "GREEK": "el",
    "HEBREW": "he", "THAI": "th", "DEVANAGARI": "hi", "BENGALI": "bn", "TAMIL": "ta", "GEORGIAN": "ka", "ARMENIAN": "hy",
    "LATIN": "",
}  # fmt: skip
"""What the names of letters begin with in Unicode, and a language that is written in them."""
_LATIN_WORD = re.compile(rf"(?:[^\W\d_]|[{MARKS}])+")
_NEIGHBOURS = {"ar": ("fa", "پچژگ"), "ru": ("uk", "іїєґ")}
"""Languages that write most of another's letters, and the letters that only they have."""
CLEARLY, A_STOP_WORD = 3, 5
"""By how many stop words one language must be ahead where letters tell more; what one is worth beside the letters."""
_TOLD_APART = (
    "no ca da de en es fi fr hu id it nl pl pt ro sv tr vi cs "
    "hr sr bs sl sk lt lv et is sq af gl eu sw tl ms cy ga mt az"
).split()
"""Languages in Latin letters that are told apart, by the names that the detector has for them: those of the second line, that
no neighbour's is written in its place."""
_LATIN_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "cs", "tr")


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Give words and numbers in order, and whole runs of scripts without spaces.

    Yields:
        The casefolded piece, and whether it is such a run. Numbers come in one spelling: 118,400 as 118400, 3,5 as 3.5.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    for match in (_ASCII_TOKEN if plain.isascii() else TOKEN).finditer(plain):
        token = match[0]
        if match.lastgroup == "number":
            token = _NOT_A_DIGIT.sub("", token) if _GROUPED.fullmatch(token) else token.replace(",", ".")
        yield token, match.lastgroup == "run"


def words(text: str) -> list[str]:
    """Give the casefolded words of `text` in order; scripts without spaces as pairs of neighbouring characters."""
    return list((_words if len(text) <= _KEPT else _words.__wrapped__)(text))


@lru_cache(maxsize=8_192)
def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    if plain.isascii() and not _DIGIT.search(plain):
        return tuple(_LETTERS_ONLY.findall(plain))
    found: list[str] = []
    for piece, is_run in pieces(plain):
        if is_run and len(piece) > 1:
            found.extend(piece[at : at + 2] for at in range(len(piece) - 1))
        else:
            found.append(piece)
    return tuple(found)


def content_words(text: str, language: str | None = None) -> list[str]:
    """Give the words that carry meaning in a language, or the one that is guessed: stemmed, in order, with repetitions."""
    return list((_content_words if len(text) <= _KEPT else _content_words.__wrapped__)(text, language))


@lru_cache(maxsize=8_192)
def _content_words(text: str, language: str | None) -> tuple[str, ...]:
    stop = stop_words(language or language_of(text))
    found = [word for word in words(text) if word not in stop]
    return tuple(stem(word) for word in [one for one in found if not _is_grammar(one)] or found)


def segmented(text: str) -> str:
    """Write `text` for an index that splits at spaces: stems; single characters of scripts without spaces."""
    return " ".join(" ".join(piece) if is_run else stem(piece) for piece, is_run in pieces(text))


def stop_words(language: str) -> frozenset[str]:
    """Give the stop words of a language; English ones when there is no list, since such texts often quote English."""
    return lang.words("stop", language) or lang.words("stop", "en")


@lru_cache(maxsize=65_536)
def stem(word: str, language: str = "en") -> str:
    """Cut the endings of a casefolded word by the rules of its language (Snowball), and its accents.

    Search cuts every Latin word by the English rules: what matters there is that question and text are cut alike.
    """
    if not word.isalpha() or len(word) < _SHORTEST:
        return word
    name = _ALGORITHMS.get(language, "english")
    if name == "english" and ord(max(word)) > _LAST_LATIN:
        return word
    # Accents go for English, as they do in the index; other languages tell words apart by them.
    plain = word if name != "english" or word.isascii() else _unaccented(word)
    with _lock:  # a stemmer keeps the word it works on: two threads must not share it at once
        return _unaccented(_stemmer(name).stemWord(plain))


_lock = threading.Lock()
_stemmer = cache(snowballstemmer.stemmer)


def _unaccented(word: str) -> str:
    return _ACCENT.sub("", unicodedata.normalize("NFD", word))


Care = Literal["none", "asked", "report"]


def language_of(text: str, *, asked: bool = False, report: bool = False) -> str:
    """Guess the language of `text` as an ISO 639-1 code: by script, then by stop words; `en` when nothing speaks.

    What somebody `asked` is told by its letters too where stop words leave neighbours level; what a `report` shall be
    written in the language of, also where they are few: a neighbour's would be read by nobody. To load what tells by
    letters takes most of a second.
    """
    return _language_of(text[:_SAMPLE], "report" if report else "asked" if asked else "none")


@lru_cache(maxsize=8_192)
def _language_of(sample: str, care: Care) -> str:
    if sample.isascii():
        return _latin_language(sample, care)
    counts: Counter[str] = Counter()
    for letter, often in Counter(filter(str.isalpha, sample)).items():
        if (language := _SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0])) is not None:
            counts[language] += often
    latin = counts.pop("", 0)
    # One character of Chinese or Japanese says as much as two or three Latin letters.
    if counts["ja"] + counts["zh"] and 3 * (counts["ja"] + counts["zh"]) > latin:
        return "ja" if 10 * counts["ja"] > counts["zh"] else "zh"
    for language, most in counts.most_common(1):
        if most > latin / 2:
            neighbour, own = _NEIGHBOURS.get(language, ("", ""))
            return neighbour if sum(map(sample.count, own)) > len(sample) / 100 else language
    return _latin_language(sample, care)


def _latin_language(sample: str, care: Care) -> str:
    told = (_LETTERS_ONLY if sample.isascii() else _LATIN_WORD).findall(sample.casefold())
    first = _grammar_of().get(told[0], ()) if told and sample.rstrip().endswith("?") else ()
    doubtful = care == "report" and len(told) > CLEARLY
    if len(first) == 1 and not doubtful:  # a question begins in its own language, whatever it names
        return first[0]
    scores, grammar, counts = dict.fromkeys(_LATIN_LANGUAGES, 0), _grammar_of(), Counter(told)
    if first and doubtful:  # the word that a question begins with says more than a name within it
        counts[told[0]] += 2
    for word in counts.keys() & grammar.keys():
        for language in grammar[word]:
            scores[language] += counts[word]
    best, other, *_ = sorted(scores, key=scores.__getitem__, reverse=True)  # the first of equals: English
    enough = CLEARLY if doubtful or not sample.isascii() else 1
    if care == "none" or len(told) <= CLEARLY or scores[best] - scores[other] >= enough:
        return best
    return _by_letters(sample, scores)


def _by_letters(sample: str, scores: Mapping[str, int]) -> str:
    """Tell neighbours apart where stop words leave it open.

    Of 49 short questions in languages that reports are written in three are told wrong; of 29 in others two are taken for
    a question in one of these (ten, where the detector knew no others and one stop word was enough).
    """
    best = max(_detector().rank(sample), key=lambda found: found[1] + A_STOP_WORD * scores.get(found[0], 0))
    return "nb" if best[0] == "no" else best[0]


@cache
def _detector() -> "LanguageIdentifier":
    """Load the detector once; its model takes half a second, and most texts need no second look."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    made = LanguageIdentifier.from_model_file(MODEL_FILE)
    made.set_languages(_TOLD_APART)
    return made


@cache
def _grammar_of() -> dict[str, tuple[str, ...]]:
    """Give the languages that have a word as a stop word."""
    found: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for language in _LATIN_LANGUAGES:
        for word in stop_words(language):
            found[word] += (language,)
    return found


def _is_grammar(word: str) -> bool:
    """Tell pairs that hold a Japanese ending or particle (hiragana) or a Chinese particle."""
    return len(word) == 2 and (bool(_HIRAGANA.search(word)) or not lang.words("grammar", "zh").isdisjoint(word))


FRESH = 10
"""Years back from today in which a year that nobody gave is taken for the model's idea of now."""

_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20|21)\d\d(?![\d]|[.,]\d)")
_SPAN = re.compile(r"(?<!\d)((?:1[5-9]|20|21)\d\d)\s*(?:[-–—/]|\w{1,5})\s*((?:1[5-9]|20|21)\d\d)(?!\d)")
_STAMP = re.compile(
    r"\s*[(\[]?(?:(?<!\w)(?:in|of|as of|since|from|for|by|until|during|after|before|im jahr|stand|seit|von|bis|en|de|"
    r"depuis|desde|nel|del|em|desde|sinds|van|sedan|från)\s+)?(?<![\w.,:/#])(?P<stamp>(?:19|20|21)\d\d(?:[-–/]\d{1,4}){0,2})"
    r"(?![A-Za-z\d_]|[.,]\d)年?[)\]]?",
    re.IGNORECASE,
)
_NAMED_SO = re.compile(r"(?:iso|iec|din|en|rfc|ieee|covid|no\.?|nr\.?|#)[\s:-]*$", re.IGNORECASE)


def years_in(text: str) -> frozenset[int]:
    """Give the years that a text names."""
    return frozenset(int(found) for found in _YEAR.findall(text))


def year_spans(text: str) -> tuple[range, ...]:
    """Give the spans of years that a text names: `between 2015 and 2023`, `2015–2023`."""
    return tuple(range(int(first), int(last) + 1) for first, last in _SPAN.findall(text) if first < last)


def without_strange_years(given: str, today: str) -> Callable[[str], str]:
    """Give what takes out of a text the recent years that nobody gave; nothing without today's ISO date.

    All that the question says, in any form, is `given`: its years, those of its spans, and today's with its neighbours count.
    """
    newest = max(years_in(today[:4]), default=0)
    allowed = years_in(given).union(range(newest - 1, newest + 2), *year_spans(given))

    def judged(match: re.Match[str]) -> str:
        recent = {year for year in years_in(match["stamp"]) if newest - FRESH <= year <= newest}
        stray = recent - allowed and not _NAMED_SO.search(match.string[: match.start("stamp")])
        return " " if stray else match[0]

    def clean(text: str) -> str:
        kept = re.sub(r"\s{2,}", " ", _STAMP.sub(judged, text)).strip(" ,;:-–") if newest else ""
        return re.sub(r"\s+(?=[?!.,])", "", kept) if kept else text

    return clean
