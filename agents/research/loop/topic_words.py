"""Closed lists that tell topics apart: words of polarity, population, time and direction, place names, plain nouns.

Written by hand for this project. Within a list, commas part groups; words of one group mean the same, so that
`women's` and `female` make no difference and `women` and `men` do. A word too many in these lists costs at worst one
search that repeats another; a word too few can lose a topic.
"""

from agents.nlp.tokens import stem

Groups = dict[str, dict[str, str]]
"""Language to word to the first word of its group."""

_WHOLE = 4  # shorter words are told apart letter by letter: without accents, `où` would be `ou`


def key(word: str) -> str:
    """Write a casefolded word the way these lists hold it: longer ones by their stem."""
    return word if len(word) < _WHOLE else stem(word)


def _groups(text: str) -> dict[str, str]:
    return {key(word): group.split()[0] for group in text.split(",") for word in group.split()}


def _words(text: str) -> frozenset[str]:
    return frozenset(map(key, text.split()))


POLES: Groups = {
    language: _groups(text)
    for language, text in {
        "en": """
            against anti contra oppose opposing opposition opponents, without lacking, not no never non nor neither,
            until, before pre prior earlier, after post, except excluding, only, pro support supporting supporters
            favour favor, increase increased rise rising growth growing grow gain upward, decrease decreased decline
            declining fall falling drop reduction loss shrink downward, positive, negative, advantage benefit upside
            pros strength, disadvantage drawback harm downside cons weakness, cause causes reason, effect consequence
            impact outcome, risk danger hazard, safe safety, prevent prevention, treat treatment cure, import
            imported, export exported, supply, demand, buyer buying purchase, seller selling, winner, loser, winning,
            losing, success successful, failure failed, high higher highest, low lower lowest, large big larger
            largest, small smaller smallest, long longer, short shorter, early earliest, late latest recent, past,
            future, current present, old older, new newer, first, last, next previous, north northern, south
            southern, east eastern, west western, upper, lower, left, right, inner, outer, indoor, outdoor, public,
            private, urban city, rural countryside, legal, illegal, formal, informal, domestic, foreign, natural,
            artificial, organic, conventional, active, passive, direct, indirect, acute, chronic, hot, cold, warm,
            cool, wet, dry, day daytime, night nighttime, summer, winter, spring, autumn, january, february, march,
            april, june, july, august, september, october, november, december, minimum min, maximum
            max, best, worst, rich, poor, online, offline, open, closed, input, output, income revenue, expense
            expenditure, onshore, offshore, primary, secondary, tertiary, liberal left-wing, conservative right-wing,
            black, white, red, green, blue, weekly, monthly, annual yearly, daily, hourly, myth, fact, strong, weak,
            hard, soft, raw, cooked, living, dead death mortality, birth""",
        "de": """
            gegen anti wider contra, ohne, nicht kein keine keinen nie niemals, seit, während, außer, nur, pro
            befürworter unterstützung, zunahme anstieg wachstum steigend, abnahme rückgang sinkend verlust, positiv
            positive, negativ negative, vorteil vorteile nutzen, nachteil nachteile schaden, ursache ursachen grund
            gründe, folge folgen wirkung auswirkung auswirkungen, risiko risiken gefahr, sicherheit, vorbeugung
            prävention, behandlung therapie, import importe einfuhr, export exporte ausfuhr, angebot, nachfrage, hoch
            hohe hoher, niedrig niedrige niedriger, groß große großer, klein kleine kleiner, lang lange langer, kurz
            kurze kurzer, früh frühe, spät späte, alt alte alter, neu neue neuer, vergangenheit, zukunft, gegenwart
            aktuell, norden nördlich, süden südlich, osten östlich, westen westlich, links, rechts, innen, außen,
            öffentlich öffentliche, privat private, stadt städtisch, land ländlich, legal, illegal, inland, ausland,
            sommer, winter, frühling frühjahr, herbst, tag, nacht, januar, februar, märz, april, mai, juni, juli,
            august, september, oktober, november, dezember, minimum, maximum, beste, schlechteste, reich, arm,
            einnahmen, ausgaben, akut, chronisch, heiß, kalt, warm, geburt, tod""",
        "fr": """
            contre anti, sans, pas non jamais aucun aucune, avant, après depuis, pendant, sauf, seulement, hausse
            augmentation croissance, baisse diminution recul perte, positif positive, négatif négative, avantage
            avantages bénéfices, inconvénient inconvénients, cause causes, effet effets conséquence conséquences
            impact, risque risques, sécurité, prévention, traitement, importation importations, exportation
            exportations, offre, demande, haut haute élevé, bas basse faible, grand grande, petit petite, long
            longue, court courte, ancien ancienne vieux, nouveau nouvelle nouveaux, passé, avenir futur, nord, sud,
            est, ouest, gauche, droite, intérieur, extérieur, public publique, privé privée, urbain ville, rural
            campagne, légal, illégal, été, hiver, printemps, automne, jour, nuit, janvier, février, mars, avril, mai,
            juin, juillet, août, septembre, octobre, novembre, décembre, minimum, maximum, meilleur, pire, riche,
            pauvre, recettes, dépenses, aigu, chronique, naissance, mort mortalité""",
        "es": """
            contra anti, sin, no nunca jamás ningún ninguna, antes, después tras, durante, excepto salvo, solo sólo,
            favor, aumento crecimiento subida, disminución descenso caída reducción pérdida, positivo positiva,
            negativo negativa, ventaja ventajas beneficios, desventaja desventajas inconvenientes, causa causas,
            efecto efectos consecuencia consecuencias impacto, riesgo riesgos, seguridad, prevención, tratamiento,
            importación importaciones, exportación exportaciones, oferta, demanda, alto alta altos, bajo baja bajos,
            grande grandes, pequeño pequeña, largo larga, corto corta, viejo vieja antiguo, nuevo nueva, pasado,
            futuro, norte, sur, este, oeste, izquierda, derecha, interior, exterior, público pública, privado
            privada, urbano ciudad, rural campo, legal, ilegal, verano, invierno, primavera, otoño, día, noche,
            enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre,
            mínimo, máximo, mejor, peor, rico, pobre, ingresos, gastos, agudo, crónico, nacimiento,
            muerte mortalidad""",
        "it": """
            contro anti, senza, non mai nessun nessuna, prima, dopo, durante, tranne, solo, favore, aumento crescita,
            diminuzione calo riduzione perdita, positivo positiva, negativo negativa, vantaggio vantaggi benefici,
            svantaggio svantaggi, causa cause, effetto effetti conseguenza conseguenze impatto, rischio rischi,
            sicurezza, prevenzione, trattamento cura, importazione importazioni, esportazione esportazioni, offerta,
            domanda, alto alta, basso bassa, grande grandi, piccolo piccola, lungo lunga, corto corta breve, vecchio
            vecchia antico, nuovo nuova, passato, futuro, nord, sud, est, ovest, sinistra, destra, interno, esterno,
            pubblico pubblica, privato privata, urbano città, rurale campagna, legale, illegale, estate, inverno,
            primavera, autunno, giorno, notte, gennaio, febbraio, marzo, aprile, maggio, giugno, luglio, agosto,
            settembre, ottobre, novembre, dicembre, minimo, massimo, migliore, peggiore, ricco, povero, entrate,
            spese, acuto, cronico, nascita, morte mortalità""",
        "pt": """
            contra anti, sem, não nunca nenhum nenhuma, antes, depois após, durante, exceto, apenas, favor, aumento
            crescimento alta, diminuição queda redução perda, positivo positiva, negativo negativa, vantagem
            vantagens benefícios, desvantagem desvantagens, causa causas, efeito efeitos consequência consequências
            impacto, risco riscos, segurança, prevenção, tratamento, importação importações, exportação exportações,
            oferta, demanda procura, alto, baixo baixa, grande grandes, pequeno pequena, longo longa, curto curta,
            velho velha antigo, novo nova, passado, futuro, norte, sul, leste, oeste, esquerda, direita, interior,
            exterior, público pública, privado privada, urbano cidade, rural campo, legal, ilegal, verão, inverno,
            primavera, outono, dia, noite, janeiro, fevereiro, março, abril, maio, junho, julho, agosto, setembro,
            outubro, novembro, dezembro, mínimo, máximo, melhor, pior, rico, pobre, receitas, despesas, agudo,
            crônico crónico, nascimento, morte mortalidade""",
        "nl": """
            tegen anti, zonder, niet geen nooit, sinds, tijdens, behalve, alleen, voorstander voorstanders, stijging
            toename groei, daling afname verlies, positief positieve, negatief negatieve, voordeel voordelen, nadeel
            nadelen, oorzaak oorzaken, gevolg gevolgen effect effecten, risico, veiligheid, preventie, behandeling,
            import invoer, export uitvoer, aanbod, vraag, hoog hoge, laag lage, groot grote, klein kleine, lang
            lange, kort korte, oud oude, nieuw nieuwe, verleden, toekomst, noord noorden, zuid zuiden, oost oosten,
            west westen, links, rechts, binnen, buiten, openbaar publiek, privé particulier, stad stedelijk,
            platteland landelijk, legaal, illegaal, zomer, winter, lente voorjaar, herfst najaar, dag, nacht,
            januari, februari, maart, april, mei, juni, juli, augustus, september, oktober, november, december,
            minimum, maximum, beste, slechtste, rijk, arm, inkomsten, uitgaven, geboorte, dood""",
        "sv": """
            mot emot anti, utan, inte ej icke aldrig ingen inget, före innan, efter sedan, utom, bara endast, ökning
            tillväxt, minskning nedgång förlust, positiv positiva, negativ negativa, fördel fördelar, nackdel
            nackdelar, orsak orsaker, följd följder effekt effekter, risk risker, säkerhet, förebyggande, behandling,
            import, export, utbud, efterfrågan, hög höga, låg låga, stor stora, liten små, lång långa, kort korta,
            gammal gamla, ny nya, framtid, dåtid, norr norra, söder södra, öster östra, väster västra, vänster,
            höger, inre, yttre, offentlig, privat, stad, landsbygd, laglig, olaglig, sommar, vinter, vår, höst, dag,
            natt, januari, februari, mars, april, maj, juni, juli, augusti, september, oktober, november, december,
            minimum, maximum, bästa, sämsta, rik, fattig, intäkter, utgifter""",
    }.items()
}
"""Polarity, place in time, and other pairs of opposites: one of these in one topic only makes it another topic."""

POPULATIONS: Groups = {
    language: _groups(text)
    for language, text in {
        "en": """
            women woman female mothers, men man male fathers, children child kids paediatric pediatric, adults adult,
            adolescents adolescent teenagers teenager teens youth young, elderly seniors geriatric aged, infants
            infant babies baby newborn neonatal, toddlers, girls girl, boys boy, pregnant pregnancy maternal, parents
            parent, students student pupils, teachers teacher, workers worker employees, employers employer, patients
            patient, doctors doctor physicians, nurses nurse, smokers smoker, nonsmokers, athletes athlete, veterans
            veteran, soldiers, immigrants immigrant migrants migrant, refugees refugee, citizens, prisoners, farmers
            farmer, consumers consumer, voters voter, homeless, disabled, diabetics diabetic, obese, humans human
            people, animals animal, mice mouse, rats rat, dogs dog, cats cat, cattle cows, pigs, sheep, horses,
            birds, fish, insects, plants, vegetarians, vegans""",
        "de": """
            frauen frau weiblich mütter, männer mann männlich väter, kinder kind kindern, erwachsene erwachsenen,
            jugendliche jugendlichen, senioren ältere älteren, säuglinge babys, mädchen, jungen, schwangere
            schwangeren, eltern, schüler, studierende studenten, lehrer lehrkräfte, arbeitnehmer beschäftigte,
            arbeitgeber, patienten, ärzte, pflegekräfte, raucher, sportler, soldaten, migranten, flüchtlinge,
            landwirte bauern, verbraucher, wähler, menschen, tiere, mäuse, ratten, hunde, katzen, rinder, schweine,
            vögel, fische, insekten, pflanzen""",
        "fr": """
            femmes femme mères, hommes homme pères, enfants enfant, adultes adulte, adolescents jeunes, aînés âgées
            seniors, nourrissons bébés, filles fille, garçons garçon, enceintes, parents, élèves étudiants,
            enseignants, salariés travailleurs, employeurs, patients, médecins, infirmiers, fumeurs, sportifs,
            soldats, immigrés migrants, réfugiés, agriculteurs, consommateurs, électeurs, humains, animaux, souris,
            rats, chiens, chats, oiseaux, poissons, insectes, plantes""",
        "es": """
            mujeres mujer madres, hombres hombre padres, niños niño infantil, niñas niña, adultos adulto,
            adolescentes jóvenes, ancianos mayores, bebés lactantes, embarazadas, estudiantes alumnos, profesores
            docentes, trabajadores, empresarios, pacientes, médicos, enfermeras, fumadores, deportistas, soldados,
            inmigrantes migrantes, refugiados, agricultores, consumidores, votantes, humanos, animales, ratones,
            ratas, perros, gatos, aves, peces, insectos, plantas""",
        "it": """
            donne donna madri, uomini uomo padri, bambini bambino, bambine bambina, adulti adulto, adolescenti
            giovani, anziani, neonati lattanti, ragazze, ragazzi, incinte, genitori, studenti alunni, insegnanti,
            lavoratori, datori, pazienti, medici, infermieri, fumatori, atleti, soldati, immigrati migranti,
            rifugiati, agricoltori, consumatori, elettori, umani, animali, topi, ratti, cani, gatti, uccelli, pesci,
            insetti, piante""",
        "pt": """
            mulheres mulher mães, homens homem pais, crianças criança, meninas menina, meninos menino, adultos
            adulto, adolescentes jovens, idosos, bebês bebés, grávidas gestantes, estudantes alunos, professores,
            trabalhadores, empregadores, pacientes, médicos, enfermeiros, fumantes fumadores, atletas, soldados,
            imigrantes migrantes, refugiados, agricultores, consumidores, eleitores, humanos, animais, ratos, cães,
            gatos, aves, peixes, insetos, plantas""",
        "nl": """
            vrouwen vrouw moeders, mannen man vaders, kinderen kind, volwassenen, jongeren tieners, ouderen,
            zuigelingen baby, meisjes, jongens, zwangere, ouders, leerlingen studenten, leraren, werknemers,
            werkgevers, patiënten, artsen, verpleegkundigen, rokers, sporters, soldaten, migranten, vluchtelingen,
            boeren, consumenten, kiezers, mensen, dieren, muizen, ratten, honden, katten, vogels, vissen, insecten,
            planten""",
        "sv": """
            kvinnor kvinna mödrar, män fäder, barn barns, vuxna, ungdomar unga, äldre, spädbarn, flickor, pojkar,
            gravida, föräldrar, elever studenter, lärare, arbetstagare anställda, arbetsgivare, patienter, läkare,
            sjuksköterskor, rökare, idrottare, soldater, invandrare migranter, flyktingar, bönder, konsumenter,
            väljare, människor, djur, möss, råttor, hundar, katter, fåglar, fiskar, insekter, växter""",
    }.items()
}
"""Whom or what a topic is about."""

OPPOSED: dict[str, tuple[dict[str, str], ...]] = {
    language: tuple(_groups(row) for row in rows.split("|"))
    for language, rows in {
        "en": """
            when, why, where, who whom whose, how | more most, less least fewer fewest | over above, under below
            beneath | up, down | all every, some few | from, to into onto toward towards""",
        "de": """
            wann, warum wieso weshalb, wo, wer wem wen, wie | mehr, weniger | über, unter | alle, einige wenige |
            aus, nach | vor, nach""",
        "fr": "quand, pourquoi, où, qui, comment, combien | plus, moins | dessus, dessous",
        "es": "cuándo, dónde, quién quiénes, cómo, cuánto cuántos cuántas | más, menos | sobre, bajo",
        "it": "quando, perché, dove, chi, come, quanto quanti quante | più, meno | sopra, sotto",
        "pt": "quando, onde, quem, como, quanto quantos quantas | mais, menos | sobre, sob",
        "nl": "wanneer, waarom, waar, wie, hoe, hoeveel | meer, minder | boven, onder | van, naar | voor, na",
        "sv": "när, varför, var, vem, hur | mer, mindre | över, under | från, till",
    }.items()
}
"""Too common to mean anything alone: they part topics only where both have one of a row, and not the same."""

MARKERS: dict[str, frozenset[str]] = {
    language: frozenset(text.split())
    for language, text in {
        "en": "from to into onto toward towards on upon by than against",
        "de": "aus von vom nach auf durch zu zum zur als gegenüber gegen",
        "fr": "vers sur par depuis contre",
        "es": "hacia sobre en por desde contra",
        "it": "verso su sul sulla sui sulle da dal dalla contro",
        "pt": "para sobre em por desde pelo pela contra",
        "nl": "van naar op door dan tegen",
        "sv": "från till på av än mot",
    }.items()
}
"""Prepositions that say who does what to whom: what stands behind the same one must agree."""

VERBS = _words(
    """affect influence cause predict drive reduce increase improve replace harm help raise lower beat exceed precede
    change shape"""
)
"""English verbs with a doer and a thing done to, which may be asked for either way round."""

PLAIN: dict[str, frozenset[str]] = {
    language: _words(text)
    for language, text in {
        "en": """
            overview introduction summary history role rate level number trend share price cost study research review
            report guide list evidence data method approach use way example case issue problem debate policy state
            type model source global modern general main key common average total actual real different similar
            specific world country climate energy health water food market trade system technology economy society
            list name time year month week place""",
        "de": """
            überblick geschichte rolle rate zahl anzahl trend anteil preis preise kosten studie studien forschung
            bericht liste daten methode methoden beispiel fall problem debatte politik stand art modell quelle
            quellen jahr jahre land länder markt system welt zeit klima energie wasser thema frage fragen antwort
            ergebnis ergebnisse stunden tage vergleich tag woche monat einfluss höhe menge größe zweck zusammenhang
            unterschied unterschiede""",
        "fr": """
            aperçu histoire rôle taux nombre tendance part prix coût coûts étude recherche rapport liste données
            méthode""",
        "es": """
            resumen historia papel tasa número tendencia precio costo coste costos estudio informe lista datos
            método""",
        "it": """
            panoramica storia ruolo tasso numero tendenza prezzo costo costi studio ricerca rapporto elenco dati
            metodo""",
        "pt": """
            resumo história papel taxa número tendência preço custo custos estudo pesquisa relatório lista dados
            método""",
        "nl": """
            overzicht geschiedenis rol aantal trend aandeel prijs kosten onderzoek studie rapport lijst gegevens
            methode""",
        "sv": """
            översikt historia roll antal trend andel pris kostnad kostnader studie forskning rapport lista data
            metod""",
    }.items()
}
"""Nouns that begin a topic, or are written large in German, without being names."""

PLAIN_ENDINGS: dict[str, tuple[str, ...]] = {
    "en": ("ing", "tion", "sion", "ment", "ness", "ance", "ence", "ysis", "ical", "ity", "ship", "ology"),
    "de": ("ung", "ungen", "heit", "keit", "schaft", "tion", "tionen", "tät", "ismus", "nis", "eiten"),
    "fr": ("tion", "tions", "ment", "ments", "ité", "ance", "ence"),
    "es": ("ción", "ciones", "miento", "dad", "dades", "ancia", "encia"),
    "it": ("zione", "zioni", "mento", "menti", "ità", "anza", "enza"),
    "pt": ("ção", "ções", "mento", "mentos", "dade", "dades", "ância", "ência"),
    "nl": ("ing", "ingen", "heid", "heden", "tie", "schap", "teit"),
    "sv": ("ning", "ningar", "het", "heter", "tion", "skap", "else"),
}

PLACES = _words(
    """
    afghanistan africa afrika alaska albania alemanha alemania algeria algerien algérie allemagne america
    american amerika américa angola arabia argentina argentine argentinian argentinien armenia asia asie asien
    australia australian australie australien austria austrian autriche azerbaijan bahrain bangladesh bavaria
    bayern beijing belarus belgien belgique belgium belgië berlin bolivia bosnia botswana brasil brasile
    brasilien brazil brazilian british brussels brésil bulgaria bulgarian bulgarien burundi bélgica cairo
    california cambodia cameroon canada canadian canadá chad chile chilean china chine chinese cina colombia
    colombian colombie congo corea corée croatia croatie cuba cyprus czech czechia danemark danimarca danish
    danmark delhi denmark deutschland dinamarca dubai dublin duitsland dutch dänemark ecuador egipto egitto egypt
    egyptian england english eritrea espagne espanha españa estland estonia ethiopia ethiopian europa europe
    european finland finlande finlandia finnish finnland florida france francia frankreich frankrijk frankrike
    frança french gaza geneva georgia german germania germany ghana giappone grecia greece greek greenland
    griechenland grèce guatemala guinea haiti hamburg hawaii holland honduras hongrie hungarian hungary hungría
    iceland inde india indian indien indonesia indonesian indonesien indonésie irak iran iranian iraq iraqi
    ireland irish irland irlanda irlande island israel israeli istanbul italia italian italie italien italië
    italy jakarta jamaica japan japanese japon japão japón jordan kanada kazakhstan kenia kenya kenyan kolumbien
    kongo korea korean kosovo kroatien kuba kuwait lagos laos latvia lebanon lettland liberia libia libya libye
    libyen lisbon litauen lithuania london luxembourg luxemburg madagascar madrid malawi malaysia mali malta
    maroc marokko marruecos mauritania messico mexican mexico mexiko mexique milan moldova mongolia montenegro
    moroccan morocco moscow mozambique mumbai munich myanmar méxico münchen namibia nederland nepal netherlands
    nicaragua niederlande niger nigeria nigerian noorwegen norge noruega norvegia norvège norway norwegen
    norwegian oman oslo pakistan pakistani palestine panama paraguay paris peru peruvian perù perú philippines
    poland polen polish pologne polonia polônia portugal portuguese prague pérou qatar romania romanian rome
    roumanie rumania rumänien rusia rusland russia russian russie russland rwanda ryssland rússia saudi
    schottland schweden schweiz scotland scottish senegal seoul serbia serbie serbien shanghai singapore slovakia
    slovenia slowenien somalia spagna spain spanien spanish spanje stockholm sudan suecia suisse suiza suriname
    suède suécia suíça sverige svezia svizzera sweden swedish swiss switzerland sydney syria syrian syrie syrien
    taiwan taiwanese tansania tanzania texas thai thailand togo tokyo toronto tschechien tunesien tunisia tunisie
    turchia turkey turkish turquie turquía tyskland türkei uae ucraina ucrania uganda uk ukraine ukrainian ungarn
    uruguay usa uzbekistan venezuela vienna vietnam vietnamese wales warsaw welsh wien yemen zambia zimbabwe
    zurich zweden zwitserland zypern zürich ägypten äthiopien égypte éthiopie österreich"""
)
"""Places, since many topics are written without capitals."""

NUMBERS: dict[str, str] = {
    word: str(value)
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "zéro - deux trois quatre cinq six sept huit neuf dix onze douze",
        "cero - dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "- - due tre quattro cinque sei sette otto nove dieci undici dodici",
        "- - dois três quatro cinco seis sete oito nove dez onze doze",
        "nul - twee drie vier vijf zes zeven acht negen tien elf twaalf",
        "noll - två tre fyra fem sex sju åtta nio tio elva tolv",
    )
    for value, word in enumerate(words.split())
    if word not in {"-", "one", "sei", "sex", "once", "due", "elf", "null", "fem"}
} | {"hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000", "half": "0.5", "twice": "x2"}
"""Words for numbers, as digits. `one` and its like say nothing, and some others are other words elsewhere."""

ROMAN: dict[str, str] = {
    numeral: str(value)
    for numerals, first in (("II III IV", 2), ("VI VII VIII IX", 6), ("XI XII XIII XIV XV XVI", 11))
    for value, numeral in enumerate(numerals.split(), first)
}
"""Roman numerals of more than one letter, written large; the others count as single letters."""

ARTICLES = {"en": "ai", "fr": "aàyô", "es": "aeouy", "it": "aeioè", "pt": "aeoàé", "nl": "u", "sv": "iåö"}
"""Single letters that are words of their own."""

FALSE_FRIENDS = _words("bar car come den door era far hat man men plus sea sin son war")
"""English words that are small words elsewhere: one of them does not make a topic French or German."""

HAN_PARTICLES = frozenset("的了吗嗎呢吧啊之")
"""Chinese characters that carry grammar only."""

KANA_PARTICLES = _words(
    """における においての において に関する に関して についての について による によると によって
    に対する に対して とは何か とは何ですか は何ですか は何か ですか でしょうか とは では には
    にも での への との からの までの として など などの の は が を に で と も へ や か から
    まで"""
)
"""Hiragana that carry grammar only, where they stand alone between other characters."""

HANGUL_PARTICLES = ("에서의", "에서", "으로", "의", "을", "를", "은", "는", "이", "가", "에", "로", "와", "과", "도")
"""Endings of Korean words, longest first."""


def _rows(*rows: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group.split()) for row in rows for group in row.split("|"))


CJK_POLES = _rows(
    "男|女|儿童 兒童 子ども 子供 小児 小儿|成人 大人|青少年 若者 青年|高齢 老年 老人 高龄 高齡",
    "婴儿 嬰兒 乳児|妊婦 孕妇 孕婦|学生 學生|教師 教师|患者|労働者 工人|動物 动物|賛成 赞成 贊成 支持",
    "反対 反对 反對|増 增 上昇 上升 拡大|減 减 低下 下降 下落 縮小|以前 之前|以後 以后 之后 之後 以降",
    "輸出 出口|輸入 进口 進口|不 未 非 没 沒 ない なし 無 无|利点 优点 優點 長所 好处",
    "欠点 缺点 缺點 短所|原因 理由|影響 影响 結果 结果 效果 効果|高|低|大|小|長 长|短|新|旧 舊 古|東 东",
    "西|南|北|左|右|内 內|外|公立 公共 公营|私立 私人 民营 民間|都市 城市|農村 农村|国内 國內|国外 海外",
    "春|夏|秋|冬|昼|夜|最大 最多|最小 最少|早|晚 遅|需要 需求|供給 供给|治療 治疗|予防 预防 預防|合法",
    "非法 違法|正|負 负|収入 收入|支出|過去 过去|未来 未來 将来",
)
"""Polarity and population in Chinese and Japanese, found anywhere in a run."""

CJK_OPPOSED = _rows(
    "なぜ 何故 为什么 為什麼 为何 為何|いつ 何时 何時 什么时候 什麼時候|どこ 哪里 哪裡 何处|誰 谁 だれ",
    "どう 如何 怎么 怎麼 怎样|多少 いくら",
)
"""Question words; they part two topics only where both have one."""

CJK_PLACES = tuple(
    word
    for words in (
        "中国 中國 日本 韩国 韓国 韓國 朝鲜 朝鮮 美国 米国 美國 英国 英國 法国 法國 德国 德國 俄罗斯 俄羅斯",
        "印度 巴西 智利 秘鲁 秘魯 阿根廷 墨西哥 加拿大 澳大利亚 澳大利亞 意大利 西班牙 葡萄牙 荷兰 荷蘭 瑞典",
        "挪威 芬兰 丹麦 瑞士 奥地利 波兰 乌克兰 土耳其 埃及 南非 越南 泰国 印尼 马来西亚 新加坡 台湾 台灣",
        "香港 北京 上海 东京 東京 大阪 京都 北海道 沖縄 首尔 广东 欧洲 欧州 歐洲 亚洲 非洲 美洲",
    )
    for word in words.split()
)
