"""What words mean, as far as closed lists go: irregular forms, words of one meaning, opposites. Small and general."""

import re
from functools import lru_cache

from agents.nlp.tokens import stem

# Irregular past forms: without them `rose` and `rise` would be strangers.
_IRREGULAR = """
stieg stiegen steigt gestiegen steigen|sanken sinkt gesunken sinken|fiel fielen fällt gefallen fallen|wuchs wuchsen wächst wachsen|
subió subieron sube suben subido subir|bajó bajaron baja bajan bajado bajar|aumentó aumentaron aumenta aumentan aumentar|
disminuyó disminuyeron disminuye disminuyen disminuir|creció crecieron crece crecen crecer|cayó cayeron cae caen caer|
augmenté augmente augmentent augmenta augmenter|diminué diminue diminuent diminua diminuer|baissé baisse baissent baissa baisser|
rose risen rise|fell fallen fall|grew grown grow|began begun begin|wrote written write|won win|lost lose|led lead|
held hold|built build|made make|found find|founded founder founding establish|kept keep|left leave|met meet|paid pay|
sold sell|sent send|spent spend|stood stand|taught teach|thought think|told tell|took taken take|went gone go|
came come|became become|gave given give|got gotten get|knew known know|saw seen see|showed shown show|
spoke spoken speak|stole stolen steal|swam swum swim|wore worn wear|broke broken break|bought buy|brought bring|
caught catch|chose chosen choose|drew drawn draw|drove driven drive|fought fight|flew flown fly|
forbade forbidden forbid|forgot forgotten forget|froze frozen freeze|hid hidden hide|laid lay|meant mean|ran run|
sang sung sing|sank sunk sink|shot shoot|shrank shrunk shrink|slept sleep|spread spread|sprang sprung spring|
struck strike|threw thrown throw|understood understand|woke wake|withdrew withdrawn withdraw|bore born bear|
beat beaten beat|ate eaten eat|felt feel|heard hear|sought seek|bred breed|fed feed|dealt deal|women woman|men man|
children child|people person|feet foot|teeth tooth|mice mouse|lives life|wives wife|selves self|
died dying death dead die|analysis analyse|best good|better good|worst bad|worse bad|stieg gestiegen steigen|
sank gesunken sinken|fiel gefallen fallen|wuchs gewachsen wachsen|ging gegangen gehen|kam gekommen kommen|
nahm genommen nehmen|gab gegeben geben|fand gefunden finden|lag gelegen liegen|gestanden stehen|
schrieb geschrieben schreiben|hielt gehalten halten|begann begonnen beginnen|blieb geblieben bleiben|
verlor verloren verlieren|gewann gewonnen gewinnen|
"""
# Words that stand for one another in most sentences. Ordered by nothing; a word is in one class only.
_SAME = """
rise increase grow climb gain surge jump augment expand steigen zunehmen wachsen anstieg zunahme augmenter hausse aumentar crecer subir
fall decrease decline drop reduce shrink lower cut diminish sinken abnehmen fallen rückgang baisser diminuer bajar disminuir caer
begin start commence launch open establish create form beginnen starten gründen fonder commencer empezar comenzar fundar
end finish stop cease conclude expire close enden aufhören schließen finir terminer terminar acabar
show demonstrate indicate reveal prove zeigen belegen montrer indiquer mostrar demostrar
say state report note declare announce tell sagen berichten dire indiquer decir declarar
use employ utilise utilize apply nutzen verwenden utiliser usar utilizar
buy purchase acquire kaufen acheter comprar
sell vend verkaufen vendre vender
build construct erect bauen errichten construire construir
make produce manufacture generate deliver supply output yield herstellen erzeugen produire producir
help assist aid support favour favor endorse unterstützen soutenir apoyar befürworten
ask survey question interview poll befragen interroger encuestar
affect influence impact harm damage effect beeinflussen schaden affecter nuire afectar dañar
need require necessitate brauchen benötigen nécessiter necesitar
allow permit let enable erlauben genehmigen permettre autoriser permitir
ban prohibit forbid verbieten interdire prohibir
big large huge great major vast gross grand grande
small little minor tiny klein petit pequeño
quick fast rapid schnell rapide rápido
kind type sort variety form sorte tipo
job work task employment arbeit travail trabajo
movie film picture kino película
song track single lied chanson canción
author writer novelist autor auteur escritor
doctor physician medic arzt médecin médico
car automobile vehicle auto voiture coche
ship vessel boat schiff bateau barco
town city municipality stadt ville ciudad
nation country state land pays país
area region zone district territory gebiet région región
house home residence haus maison casa
firm company business corporation enterprise unternehmen firma entreprise empresa
money fund finance financing geld argent dinero
cost price expense kosten coût costo coste
amount quantity volume menge quantité cantidad
part portion section share component teil partie parte
place location site spot ort lieu lugar
person resident inhabitant citizen respondent participant individual human einwohner personne persona habitant
child kid kind enfant niño
war conflict fighting krieg guerre guerra
king monarch ruler könig roi rey
wife spouse husband partner
study research investigation studie étude estudio
idea concept notion
goal aim objective target purpose ziel but objetivo
method way approach technique procedure means process model
problem issue difficulty trouble problem problème problema
answer reply response respond antwort réponse respuesta
important significant key essential crucial wichtig important importante
famous known renowned celebrated popular bekannt célèbre conocido famoso
common usual normal typical ordinary frequent
hard difficult tough challenging schwer schwierig difficile difícil
easy simple straightforward einfach leicht facile fácil
new recent novel neu nouveau nuevo
old ancient alt vieux viejo
near beside nahe près cerca
many numerous several various multiple viele plusieurs muchos
whole entire complete full total ganz entier entero
also additionally furthermore moreover
however but though although yet
about approximately roughly around circa
get obtain receive gain acquire bekommen erhalten recevoir obtenir recibir obtener
give provide offer grant geben bieten donner fournir dar ofrecer
keep retain maintain preserve hold behalten garder mantener
include contain comprise consist hold enthalten contenir contener incluir
live reside dwell inhabit wohnen leben vivre vivir
leave depart exit quit verlassen partir quitter salir
try attempt seek endeavour versuchen essayer intentar
want wish desire intend wollen vouloir querer
happen occur geschehen arriver ocurrir
receive accept
reject refuse decline deny ablehnen refuser rechazar
defeat beat overcome conquer besiegen vaincre derrotar
kill murder slay assassinate töten tuer matar
connect link join attach verbinden relier
separate divide split trennen séparer separar
mix blend combine merge
act perform play star appear feature
direct manage run lead head oversee
choose select pick elect wählen choisir elegir
call name term title dub refer
consider regard deem view see
write compose pen author
translate render
teach instruct educate train
learn study discover
explain describe depict portray
collect gather accumulate
protect guard defend shield
water moisture humidity
sea ocean marine
illness disease sickness disorder krankheit maladie enfermedad
drug medicine medication
pupil student learner
money cash currency
prize award medal honour honor
song music tune
main chief primary principal
yearly annual jährlich annuel anual
daily täglich quotidien diario
american us usa
british uk britain
first initial initially originally
last final ultimately
"""
_OPPOSITE = """
rise fall|more less|more fewer|most least|high low|higher lower|highest lowest|large small|larger smaller|
largest smallest|long short|longer shorter|longest shortest|early late|earlier later|earliest latest|before after|
first last|old new|older newer|older younger|oldest youngest|above below|over under|north south|east west|
northern southern|eastern western|left right|top bottom|front back|inside outside|upper lower|win lose|
success failure|succeed fail|accept reject|allow ban|support oppose|agree disagree|approve reject|for against|
include exclude|open close|begin end|twice half|cheap expensive|buy sell|import export|enter leave|arrive depart|appear disappear|
remember forget|love hate|attack defend|alive dead|born die|young old|rich poor|strong weak|hot cold|warm cool|
fast slow|faster slower|fastest slowest|hard soft|heavy light|thick thin|wide narrow|deep shallow|male female|
man woman|adult child|men women|boy girl|father mother|son daughter|brother sister|husband wife|king queen|he she|his her|him her|
positive negative|true false|correct wrong|right wrong|good bad|better worse|best worst|safe dangerous|healthy sick|
guilty innocent|same different|similar different|common rare|often rarely|always never|all none|everyone nobody|
everything nothing|with without|maximum minimum|majority minority|increase decrease|gain loss|profit loss|
cheap expensive|cheaper dearer|public private|domestic foreign|internal external|permanent temporary|
natural artificial|legal illegal|possible impossible|visible invisible|mandatory voluntary|compulsory voluntary|
compulsory optional|voluntary paid|ancient modern|urban rural|day night|summer winter|spring autumn|
advantage disadvantage|friend enemy|peace war|heaven hell|asleep awake|full empty|wet dry|raw cooked|acid alkaline|
confirm deny|prove disprove|improve worsen|strengthen weaken|widen narrow|accelerate slow|extend shorten|
encourage discourage|exceed miss|present absent|together apart|ahead behind|indoor outdoor|odd even|single married|
simple complex|easy hard|steigen sinken|mehr weniger|hoch niedrig|höher niedriger|groß klein|größer kleiner|früh spät|
vor nach|über unter|mit ohne|für gegen|gewinnen verlieren|öffnen schließen|gut schlecht|besser schlechter|alt neu|
alt jung|immer nie|alle keine|erlauben verbieten|augmenter diminuer|plus moins|haut bas|supérieur inférieur|
grand petit|avant après|avec sans|pour contre|toujours jamais|gagner perdre|ouvrir fermer|aumentar disminuir|
más menos|alto bajo|mayor menor|grande pequeño|antes después|con sin|siempre nunca|ganar perder|abrir cerrar|
"""
_ENDINGS = (
    "isations", "izations", "isation", "ization", "ational", "fulness", "ousness", "iveness", "ations", "itions",
    "ements", "ation", "ition", "ement", "ments", "ities", "ities", "ances", "ences", "ivity", "ically", "ingly",
    "ment", "ness", "ions", "able", "ible", "ance", "ence", "ical", "ally", "ives", "ists", "isms", "ings", "iers",
    "ungen", "ichen", "iche", "keit", "heit", "ung", "lich", "isch", "ment", "euse", "eurs", "trice", "ción", "ciones",
    "mente", "dor", "dora", "idad", "ion", "ity", "ive", "ist", "ism", "ous", "ful", "ing", "ant", "ent", "ial", "ier",
    "ies", "als", "ers", "ors", "ern", "ian", "ten", "est", "al", "er", "or", "ic", "ly", "ed", "en", "es", "em", "an",
    "y", "e", "s", "n", "i",
)  # fmt: skip
_SHIFTS = (("ens", "end"), ("pans", "pand"), ("cis", "cid"), ("vis", "vid"), ("lus", "lud"), ("vers", "vert"))
_MIN_ROOT = 4


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Bring the forms and derivations of a word to one root: `decision` and `decided`, `attributable` and `attribution`.

    It cuts more than a stemmer for search should: two texts are compared here that speak of one thing already.
    """
    word = _BASE.get(word, word)
    cut = stem(word)
    cut = _BASE.get(cut, cut)
    if not cut.isalpha() or len(cut) <= _MIN_ROOT:
        return cut
    for shortest in (1, 3):  # short endings once only, or little would be left
        for ending in _ENDINGS:
            if len(ending) >= shortest and cut.endswith(ending) and len(cut) - len(ending) >= _MIN_ROOT:
                cut = cut[: -len(ending)]
                break
        else:
            break
    for ending, put in _SHIFTS:
        if len(cut) >= 5 and cut.endswith(ending):  # extension, expansion, decision, division, exclusion, conversion
            cut = cut[: -len(ending)] + put
            break
    return cut[:-1] if len(cut) > _MIN_ROOT and cut[-1] == cut[-2] else cut


def _bases() -> dict[str, str]:
    found: dict[str, str] = {}
    for group in re.sub(r"\s*\n\s*", "", _IRREGULAR).strip("|").split("|"):
        *forms, base = group.split()
        for form in forms:
            found.setdefault(form, base)
    return found


_BASE = _bases()


@lru_cache(maxsize=1)
def _classes() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_SAME.strip().splitlines()):
        for word in line.split():
            found.setdefault(root(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@lru_cache(maxsize=1)
def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in re.sub(r"\s*\n\s*", "", _OPPOSITE).strip("|").split("|"):
        one, other = (root(word) for word in pair.split())
        if one != other:
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


def classes(word: str) -> frozenset[int]:
    """Give the numbers of the meanings that a root is listed under."""
    return _classes().get(word, frozenset())


def alike(one: str, other: str) -> bool:
    """Tell whether two roots mean about the same: equal, of one class, or one inside a compound of the other."""
    if one == other or classes(one) & classes(other):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= 5 and (long.endswith(short) or long.startswith(short))


@lru_cache(maxsize=32_768)
def opposites(word: str) -> frozenset[str]:
    """Give the roots that say the contrary of a root: listed ones, those of its class, and with `un-` or without."""
    found = set(_opposites().get(word, frozenset()))
    if mine := classes(word):
        for other, numbers in _classes().items():
            if other in _opposites() and numbers & mine:
                found |= _opposites()[other]
        listed = set(found)
        for other, numbers in _classes().items():
            if any(numbers & classes(one) for one in listed):
                found.add(other)
    if word.startswith(("un", "dis", "non")) and len(word) > 6:
        found.add(word[3:] if word[0] in "dn" else word[2:])
    elif len(word) > 4:
        found |= {"un" + word, "dis" + word, "non" + word}
    return frozenset(found - {word})
