"""Number words, months and units of English, German, French and Spanish, as closed lists written for this project."""

import re
from collections.abc import Sequence

MULTIPLIERS: dict[str, dict[str, int]] = {
    "en": {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12},
    "de": {"dutzend": 12, "hundert": 100, "tausend": 10**3, "million": 10**6, "millionen": 10**6, "milliarde": 10**9,
           "milliarden": 10**9, "billion": 10**12, "billionen": 10**12, "mio": 10**6, "mrd": 10**9},
    "fr": {"douzaine": 12, "cent": 100, "cents": 100, "mille": 10**3, "million": 10**6, "millions": 10**6, "milliard": 10**9,
           "milliards": 10**9},
    "es": {"docena": 12, "mil": 10**3, "millón": 10**6, "millones": 10**6, "billón": 10**12, "billones": 10**12},
}  # fmt: skip
SHORT_SCALES = {
    "k": 10**3, "m": 10**6, "mn": 10**6, "mio": 10**6, "bn": 10**9, "mrd": 10**9, "万": 10**4, "萬": 10**4,
    "億": 10**8, "亿": 10**8, "兆": 10**12, "만": 10**4, "억": 10**8,
    "thousands": 10**3, "millions": 10**6, "billions": 10**9, "trillions": 10**12,
}  # fmt: skip

_SMALL: dict[str, str] = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis "
    "veintisiete veintiocho veintinueve",
}
_TENS: dict[str, tuple[str, int]] = {
    "en": ("twenty thirty forty fifty sixty seventy eighty ninety", 20),
    "de": ("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", 20),
    "fr": ("vingt trente quarante cinquante soixante", 20),
    "es": ("veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa", 20),
}
_MORE: dict[str, dict[str, int]] = {
    "en": {},
    "de": {"zwo": 2, "ein": 1, "eine": 1, "dreissig": 30},
    "fr": {"une": 1, "vingts": 20, "septante": 70, "huitante": 80, "nonante": 90},
    "es": {"un": 1, "una": 1, "veintiún": 21, "cien": 100, "ciento": 100} | {
        f"{stem}{end}": value for stem, value in (
            ("doscient", 200), ("trescient", 300), ("cuatrocient", 400), ("quinient", 500), ("seiscient", 600),
            ("setecient", 700), ("ochocient", 800), ("novecient", 900)) for end in ("os", "as")},
}  # fmt: skip


def _values(language: str) -> dict[str, int]:
    tens, step = _TENS[language]
    found = {word: value for value, word in enumerate(_SMALL[language].split())}
    found |= {word: step + 10 * at for at, word in enumerate(tens.split())}
    return found | _MORE[language]


VALUES = {language: _values(language) for language in _SMALL}
"""Number words below a hundred (Spanish: below a thousand), by language."""
AND = {"en": "and", "de": "und", "fr": "et", "es": "y"}
WEAK = frozenset({"one", "ein", "eine", "eins", "un", "une", "uno", "una"})
"""Words for one that are articles or pronouns as often as numbers."""

ORDINALS: dict[str, dict[str, int]] = {
    "en": {word: at for at, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 1)},
    "de": {f"{stem}{end}": at for at, stem in enumerate(
        "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft".split(), 1)
        for end in ("e", "en", "er", "es", "em")},
    "fr": {"premier": 1, "première": 1, "premiers": 1, "deuxième": 2, "seconde": 2, "troisième": 3, "quatrième": 4,
           "cinquième": 5, "sixième": 6, "septième": 7, "huitième": 8, "neuvième": 9, "dixième": 10},
    "es": {f"{stem}{end}": at for at, stem in enumerate(
        "primer segund tercer cuart quint sext séptim octav noven décim".split(), 1) for end in ("o", "a", "os", "as")}
    | {"primer": 1, "tercer": 3},
}  # fmt: skip
FRACTIONS: dict[str, dict[str, float]] = {
    "en": {"half": 1 / 2, "third": 1 / 3, "thirds": 1 / 3, "quarter": 1 / 4, "quarters": 1 / 4, "fifth": 1 / 5,
           "fifths": 1 / 5, "tenth": 1 / 10, "tenths": 1 / 10},
    "de": {"hälfte": 1 / 2, "drittel": 1 / 3, "viertel": 1 / 4, "fünftel": 1 / 5, "zehntel": 1 / 10},
    "fr": {"moitié": 1 / 2, "tiers": 1 / 3, "quart": 1 / 4, "quarts": 1 / 4, "cinquième": 1 / 5, "dixième": 1 / 10},
    "es": {"mitad": 1 / 2, "tercio": 1 / 3, "tercios": 1 / 3, "cuarto": 1 / 4, "cuartos": 1 / 4, "quinto": 1 / 5},
}  # fmt: skip

_MONTH_NAMES = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "jan feb mar apr may jun jul aug sep oct nov dec",
)
MONTHS = {name: at for names in _MONTH_NAMES for at, name in enumerate(names.split(), 1)} | {
    "sept": 9, "jänner": 1, "feber": 2, "okt": 10, "dez": 12, "setiembre": 9,
}  # fmt: skip

_UNITS = """
mm length 0.001 millimetre millimeter millimètre milímetro
cm length 0.01 centimetre centimeter zentimeter centimètre centímetro
m length 1 metre meter mètre metro
km length 1000 kilometre kilometer kilomètre kilómetro
inch length 0.0254 inches zoll pouce pulgada
ft length 0.3048 foot feet fuß pied
yd length 0.9144 yard
mi length 1609.344 mile meile milla
m2 area 1 sqm
ha area 10000 hectare hektar hectárea
km2 area 1000000
acre area 4046.856
g mass 0.001 gram gramme gramm gramo
mg mass 0.000001 milligram milligramm
kg mass 1 kilogram kilogramm kilo kilogramo kilogramme
t mass 1000 tonne ton tonelada
l volume 0.001 litre liter litro
ml volume 0.000001 millilitre milliliter
m3 volume 1
s time 1 second sekunde seconde segundo sec
min time 60 minute minuto minuten
h time 3600 hour stunde heure hora hr
d time 86400 day tag tagen jour día
week time 604800 woche semaine semana
month span 1 monat monaten mois mes
year span 12 yr jahr jahren an année año
decade span 120 jahrzehnt décennie década
century span 1200 jahrhundert siècle siglo centurie
w power 1 watt
kw power 1000 kilowatt
mw power 1000000 megawatt
gw power 1000000000 gigawatt
wh energy 1
kwh energy 1000
mwh energy 1000000
gwh energy 1000000000
twh energy 1000000000000
% share 1 percent percentage prozent
point points 1 prozentpunkt
kb data 1000 kilobyte
mb data 1000000 megabyte
gb data 1000000000 gigabyte
tb data 1000000000000 terabyte
eur euro 1 € euro
usd dollar 1 $ us$ dollar dólar
gbp sterling 1 £
chf franken 1 franken francs
jpy yen 1 ¥ 円 yen
inr rupee 1 ₹ rupee
cent cent 1 ct centime céntimo
degree degree 1 ° °c grad degré grado celsius
fahrenheit degree 1 °f
clock clock 1
mph speed 0.44704
km/h speed 0.2777778 kph
hz frequency 1 hertz
"""


def _unit_table() -> dict[str, tuple[str, float, str]]:
    found: dict[str, tuple[str, float, str]] = {}
    for line in _UNITS.strip().splitlines():
        name, dimension, factor, *forms = line.split()
        for form in (name, *forms):
            entry = (dimension, float(factor), name)
            found.setdefault(form, entry)
            if len(form) > 2 and form.isalpha():
                for ending in ("s", "es", "e", "n", "en"):
                    found.setdefault(form + ending, entry)
    return found


UNITS = _unit_table()
"""Form to dimension, factor to the dimension's base, and name."""
LONG_UNITS = (
    (re.compile(r"(kilo|mega|giga|tera|)watt[\s-]?(?:hours?|stunden?|heures?|horas?)\b"), "wh"),
    (re.compile(r"(?:per ?cent|pour ?cent|por ciento|vom hundert)\b"), "%"),
    (re.compile(r"(?:percentage|prozent|percent)[\s-]?(?:points?|punkte?n?)\b"), "point"),
    (re.compile(r"(?:square metres?|square meters?|quadratmetern?|mètres? carrés?|metros? cuadrados?|m²|m2)(?!\w)"), "m2"),
    (re.compile(r"(?:square kilomet(?:re|er)s?|quadratkilometern?|km²|km2)(?!\w)"), "km2"),
    (re.compile(r"(?:cubic met(?:re|er)s?|kubikmetern?|m³|m3)(?!\w)"), "m3"),
    (re.compile(r"(?:km/h|kilomet(?:re|er)s? (?:per|an) hour|stundenkilometern?)\b"), "km/h"),
)  # fmt: skip
_PREFIX = {"": "", "kilo": "k", "mega": "m", "giga": "g", "tera": "t"}


def long_unit(text: str) -> tuple[str, int]:
    """Read a unit of several words at the start of casefolded `text`: its name and length; empty when there is none."""
    for pattern, name in LONG_UNITS:
        if match := pattern.match(text):
            return (_PREFIX[match[1]] + name if name == "wh" else name), match.end()
    return "", 0


def german(word: str) -> int | None:
    """Read a German number word written in one piece: `zweihundertfünfundvierzig` is 245."""
    values = VALUES["de"]
    if word in values:
        return values[word]
    for mark, size in (("tausend", 1000), ("hundert", 100)):
        if mark in word:
            head, _, tail = word.partition(mark)
            first = german(head) if head else 1
            rest = german(tail.removeprefix("und")) if tail else 0
            return first * size + rest if first is not None and rest is not None else None
    unit, mark, tens = word.partition("und")
    if mark and values.get(unit, 10) < 10 and values.get(tens, 0) >= 20:
        return values[unit] + values[tens]
    return None


def _room(value: int, language: str) -> int:
    """What may follow a word inside one number must be smaller than this."""
    if value >= 100:
        return 100
    if language == "fr":
        return 20 if value >= 20 else 10 if value == 10 else 1  # soixante-dix, dix-sept
    return 10 if value >= 20 and value % 10 == 0 else 1


def compose(words: Sequence[str], language: str) -> tuple[float, int]:
    """Read the number that starts at the first of `words`.

    Returns:
        Its value and how many words it takes; (0, 0) when none starts there.
    """
    values, multipliers = VALUES.get(language, VALUES["en"]), MULTIPLIERS.get(language, MULTIPLIERS["en"])
    total = current = 0
    taken = 0
    room = 10**15  # what is added must be smaller than the last place that was filled
    for at, word in enumerate(words):
        value = german(word) if language == "de" else values.get(word)
        if word in multipliers and word not in values:
            size = multipliers[word]
            if size >= 1000:
                if size >= room and total:
                    break
                total, current, room = total + max(current, 1) * size, 0, size
            else:
                current, room = max(current, 1) * size, size
        elif value is not None and taken and language == "fr" and value == 20 and current % 100 == 4:
            current, room = current + 76, 20
        elif value is not None and (value < room or not taken):
            current += value
            room = _room(value, language)
        elif word == AND.get(language) and taken and at + 1 < len(words) and room > 1:
            if words[at + 1] not in values:
                break
            continue
        elif value is not None and 13 <= current <= 20 and 10 <= value <= 99 and not total:
            return float(current * 100 + value), at + 1  # nineteen ninety
        else:
            break
        taken = at + 1
    return (float(total + current), taken) if taken else (0.0, 0)
