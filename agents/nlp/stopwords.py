"""Closed lists of function words and question words, language by language. Written by hand for this project."""

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """
            a about above across after again against all almost along already also although always am among an
            and another any are aren around as at away be became because become been before being below between
            both but by can cannot could couldn d did didn do does doesn doing don done down during each either
            else enough etc even ever every few for from further gave get gets give given go goes got had hadn
            has hasn have haven having he her here hers herself him himself his how however i if in indeed
            instead into is isn it its itself just kind least less let like ll m made make makes many may me
            might more most much must my myself near need neither never no nor not nothing now o of off often on
            once one only onto or other others our ours out over own per perhaps quite rather re really s said
            same say says seem seems shall she should shouldn since so some something somewhat still such t take
            tell than that the their theirs them themselves then there therefore these they this those though
            through thus to together too toward towards under unless until up upon us use used using ve versus
            very via vs was wasn way we well were weren what whatever when where whereas whether which while who
            whom whose why will with within without won would wouldn yes yet you your yours explain describe""",
        "de": """
            aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch
            auf aus bei beim bin bis bist bzw da dabei dadurch dafür dagegen daher damit danach daran darauf
            daraus darin darüber darum das dass dein deine dem den denen denn der deren des deshalb dessen die
            dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines einige
            einigen er es etwa etwas euch euer für gegen genug gewesen gibt hab habe haben hat hatte hatten hier
            hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in indem ins ist ja je jede jedem jeden
            jeder jedes jedoch jene kann kein keine keinem keinen keiner können könnte könnten machen man manche
            mehr mein meine mit muss müssen nach nachdem nein nicht nichts noch nun nur ob obwohl oder ohne
            schon sehr sei seid sein seine seinem seinen seiner seit selbst sich sie sind so sogar solche soll
            sollen sollte sondern sonst soviel sowie statt über um und uns unser unter viel viele vielen vom von
            vor während wann war waren warum was weder weil welche welchem welchen welcher welches wem wen wenig
            weniger wenn wer werde werden wessen weshalb wie wieder wieso wieviel will wir wird wo wobei wodurch
            wofür woher wohin wollen womit worden woran worin wurde wurden würde würden zu zum zur zwar zwischen""",
        "fr": """
            ai aient ainsi alors après au aucun aucune aujourd auquel aussi autre autres aux auxquels avait
            avant avec avoir c car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci combien
            comme comment contre d dans de dehors depuis derrière des dès désormais deux doit donc dont du
            durant elle elles en encore entre est et étaient était étant été être eu eux fait faire fois font
            hors hui il ils j jusqu jusque je l la laquelle là le lequel les lesquelles lesquels leur leurs lors
            lorsque lui m ma mais malgré me même mêmes mes mon n ne ni non nos notre nous on ont ou où par parce
            parmi pas pendant peu peut peuvent plus plusieurs plutôt pour pourquoi pourtant presque puis puisque
            qu quand que quel quelle quelles quelque quelques quels qui quoi s sa sans se selon sera seront ses
            seulement si sien soit son sont sous sur t ta tandis tant te tel telle telles tels tes ton toujours
            tous tout toute toutes très trop tu un une va vers voici voilà vos votre vous y""",
        "es": """
            a acerca ahora al algo alguna algunas alguno algunos algún allí ambos ante antes aquel aquella
            aquellas aquello aquellos aquí así aun aunque aún bajo bien cada casi como con contra cual cuales
            cualquier cuando cuanto cuál cuáles cuándo cuánta cuántas cuánto cuántos cuya cuyo cómo de del desde
            donde dos durante dónde e el ella ellas ello ellos en entonces entre era eran es esa esas ese eso
            esos esta estaba estaban estado estas este esto estos está están fue fueron ha había habían hace
            hacer hacia han hasta hay he incluso la las le les lo los luego me mediante menos mi mientras mis
            mismo misma mucha muchas mucho muchos muy más ni ningún ninguna ninguno no nos nosotros nuestra
            nuestro o os otra otras otro otros para pero poco pocos por porque pues puede pueden que quien
            quienes quién qué se sea según ser si sido sin sino sobre solo son su sus sí también tampoco tan
            tanto te tiene tienen toda todas todavía todo todos tras tu tus un una unas uno unos usted y ya yo
            él""",
        "it": """
            a abbia ad agli ai al alcune alcuni alla alle allo allora altra altre altri altro anche ancora aveva
            avere avevano c che chi ci ciascun ciascuno ciò coi col come con contro cosa così cui d da dagli dai
            dal dalla dalle dallo degli dei del della delle dello dentro di dopo dove dunque durante e ed era
            erano essa esse essere essi fa fanno fare fino fra fu furono gli ha hanno ho i il in infatti inoltre
            invece io l la le lei li lo loro lui ma me meno mentre mi mia mio molta molte molti molto nei negli
            nel nella nelle nello nessun nessuna nessuno no noi non nostra nostro o ogni oltre ogni ognuno ora
            oppure per perché percio però più po poca pochi poco poi possono prima può qual quale quali qualche
            quando quanta quante quanti quanto quasi quella quelle quelli quello quel questa queste questi
            questo qui quindi sarà se secondo sei senza sia siano si solo sono sopra sotto sta state stata stati
            stato su sua sue sugli sui sul sulla sulle suo suoi tale tali tanto te ti tra tu tua tuo tutta tutte
            tutti tutto un una uno vi voi è""",
        "pt": """
            a acerca afinal agora ainda além algo alguma algumas alguns algum ali ambos ante antes ao aos apenas
            após aquela aquelas aquele aqueles aquilo as assim até através bem cada com como contra cuja cujo da
            daquele das de dela delas dele deles depois desde dessa desse desta deste do dois dos durante e ela
            elas ele eles em embora enquanto entre era eram essa essas esse esses esta estas estava estavam este
            estes está estão eu foi foram fora há isso isto já la lhe lhes lo logo mais mas me mediante menos
            mesma mesmo meu minha muita muitas muito muitos na nas nem nenhum nenhuma nesta neste no nos nossa
            nosso num numa não nós o onde os ou outra outras outro outros para pela pelas pelo pelos perante
            pode podem pois por porque porquê porém pouco poucos qual quais qualquer quando quanta quantas
            quanto quantos quase que quem quê se segundo seja sem sempre sendo ser será seu seus sido sob sobre
            sua suas são só tal também tanto tão te tem tendo ter teve tinha todas todo todos toda tudo têm um
            uma umas uns você vocês à às é""",
        "nl": """
            aan achter al alle alleen allen alles als altijd andere anders ben bij bijna binnen boven buiten
            daar daarbij daarmee daarna daarom dan dat de deze die dit doch doen doet door dus echter een eens
            en enige enkele er geen geweest had hadden heb hebben heeft hem hen het hier hij hoe hoeveel hoewel
            hun iemand iets ik in indien is ja je jij jou jouw jullie kan kon konden kunnen maar me meer men met
            mijn minder moest moet moeten mogen na naar naast nadat niet niets nog nu of om omdat onder ons onze
            ook op over per reeds sinds slechts te tegen ten ter terwijl toch toen tot tussen u uit uw van vanaf
            vele veel vlak voor voordat vooral vroeger waar waardoor waarom waarin was wat we wel welk welke
            wanneer werd werden weer wie wij wil worden wordt zal ze zeer zei zelf zich zij zijn zo zoals zonder
            zou zouden""",
        "sv": """
            alla allt alltid all andra annan annat att av bara bland blev bli blir blivit både då dag de deg dem
            den denna deras dess dessa det detta dig din dina ditt dock du där därför e efter eftersom ej eller
            en endast enligt er ett från fram för före genom gör göra ha hade han har hans hela henne hennes hon
            honom hos hur i icke igen in inför ingen inget innan inom inte ja jag kan kunde kunna man med medan
            mellan men mer mest min mina mitt mot mycket många måste ned nej ni nog nu någon något några när och
            också om oss på redan samt sedan sig sin sina sitt ska skall skulle som så sådan till trots två
            under upp ur ut utan utom vad var vara varandra varför varit varje vars vart vem vems vi via vid
            vilka vilken vilket vår våra vårt vore åt än ännu är även över""",
        "ar": """
            من إلى الى عن على في حتى مع منذ خلال بعد قبل بين تحت فوق عند لدى حول ضد دون بدون كل بعض جميع أي اي
            أو او أم ثم و ف ب ل ك هو هي هم هن نحن أنا أنت انت هذا هذه ذلك تلك هؤلاء أولئك الذي التي الذين اللذين
            اللاتي ما ماذا لماذا متى أين اين كيف كم هل من لا لم لن ليس ليست إن ان أن إذا اذا لو قد لقد كان كانت
            كانوا يكون تكون لأن لكن بل كما مثل غير سوى أيضا ايضا حيث عندما بينما كذلك هناك هنا له لها لهم به بها
            فيه فيها منه منها عليه عليها إليه إليها عنه وهو وهي وقد وكان وفي ومن وما ولا الا إلا""",
        "ja": """
            何が 何を 何の 何は 何で 何年 何人 何時 誰が 誰の 誰を 何処 何故 如何 の は が を に で と も へ や""",
        "zh": """
            什么 甚么 怎么 怎样 如何 为何 为什 哪些 哪个 哪里 谁是 多少 几个 是否 有没 没有 以及 或者 因为 所以 但是
            这个 那个 这些 那些 他们 我们 你们 它们 可以 已经 还是 就是 不是 也是 對於 对于 关于 關於 什麼 怎麼 為何
            為什 哪裡 幾個 沒有 因為 這個 這些 他們 我們 的 了 是 在 和 与 與 或 吗 嗎 呢 吧 啊 也 都 就 而 及 着 著
            被 把 对 從 从 于 於 这 那 這 有 很 不""",
    }.items()
}
"""Language to its words, casefolded. Japanese and Chinese give the two-character pieces that occur in questions."""

PARTICLES: frozenset[str] = frozenset("的了吗嗎呢吧啊么麼什")
"""Chinese characters that carry grammar only: a pair with one of them is no content word."""
