"""What the report says about changes after the authorization, in the languages of `wording`."""

from collections.abc import Mapping
from dataclasses import dataclass

from agents.report.texts import base_language


@dataclass(frozen=True)
class ChangeWording:
    """Whole sentences; `{…}` are the places that are filled in, and labels avoid plurals."""

    lead: str
    """Stands above the list."""
    line: str
    """One change: `{number}`, `{time}`, `{text}`."""
    domains: str
    """`{value}`: all that was left to search."""
    exclude: str
    """`{value}`: domains that were ruled out."""
    since: str
    until: str
    between: str
    """Dates: `{start}`, `{end}`."""
    total: str
    """`{value}`: the time in all."""
    from_then_on: str
    finish: str
    finish_branch: str
    stop: str
    """`{title}`"""
    kept: str
    """`{facts}`"""
    drop: str
    retry: str
    too_late: str
    """`{title}`"""
    guidance: str
    """`{words}`, quoted."""
    restart: str
    stopped_note: str
    """What is missing of a branch that was stopped, in one clause."""
    dropped_note: str


_EN = ChangeWording(
    lead="Changes after authorization:",
    line="Change {number}, at {time}: {text}",
    domains="Only {value} was searched and read.",
    exclude="Nothing of {value} was searched or read.",
    since="Only documents since {start} were used.",
    until="Only documents up to {end} were used.",
    between="Only documents from {start} to {end} were used.",
    total="The time was shortened to {value} in all.",
    from_then_on="This held from then on; what had been read before stayed.",
    finish="No further search was made; the report was written from what was there.",
    finish_branch="Branch {title} made no further search and was written from what it had.",
    stop="Branch {title} was stopped.",
    kept="What it had found was kept (facts: {facts}).",
    drop="Branch {title} was dropped; what it had found is left out.",
    retry="Branch {title} was tried again.",
    too_late="Branch {title} was to be tried again, but that came too late.",
    guidance="A note for the rounds that followed: {words}",
    restart="The run was taken up anew; what had failed or been stopped was tried again.",
    stopped_note="stopped by you before it was done; what it had found is used",
    dropped_note="dropped by you; what it had found is left out",
)
_DE = ChangeWording(
    lead="Änderungen nach der Freigabe:",
    line="Änderung {number}, bei {time}: {text}",
    domains="Gesucht und gelesen wurde nur noch in {value}.",
    exclude="Aus {value} wurde nichts mehr gesucht und gelesen.",
    since="Nur noch Dokumente seit {start} wurden verwendet.",
    until="Nur noch Dokumente bis {end} wurden verwendet.",
    between="Nur noch Dokumente von {start} bis {end} wurden verwendet.",
    total="Die Zeit wurde auf insgesamt {value} verkürzt.",
    from_then_on="Das galt von da an; was vorher gelesen war, blieb.",
    finish="Es wurde nicht weiter gesucht; der Bericht entstand aus dem, was da war.",
    finish_branch="Zweig {title} suchte nicht weiter und wurde aus dem geschrieben, was er hatte.",
    stop="Zweig {title} wurde angehalten.",
    kept="Was er gefunden hatte, blieb erhalten (Fakten: {facts}).",
    drop="Zweig {title} wurde verworfen; was er gefunden hatte, ist weggelassen.",
    retry="Zweig {title} wurde noch einmal versucht.",
    too_late="Zweig {title} sollte noch einmal versucht werden; dafür war es zu spät.",
    guidance="Ein Hinweis für die folgenden Runden: {words}",
    restart="Der Lauf wurde neu aufgenommen; was fehlgeschlagen oder angehalten war, wurde noch einmal versucht.",
    stopped_note="von Ihnen vor dem Ende angehalten; was gefunden war, ist verwendet",
    dropped_note="von Ihnen verworfen; was gefunden war, ist weggelassen",
)
_NL = ChangeWording(
    lead="Wijzigingen na de goedkeuring:",
    line="Wijziging {number}, op {time}: {text}",
    domains="Er werd alleen nog in {value} gezocht en gelezen.",
    exclude="Uit {value} werd niets meer gezocht of gelezen.",
    since="Alleen documenten vanaf {start} werden nog gebruikt.",
    until="Alleen documenten tot en met {end} werden nog gebruikt.",
    between="Alleen documenten van {start} tot {end} werden nog gebruikt.",
    total="De tijd werd verkort tot in totaal {value}.",
    from_then_on="Dat gold vanaf dat moment; wat daarvoor gelezen was, bleef.",
    finish="Er werd niet verder gezocht; het rapport is geschreven met wat er was.",
    finish_branch="Tak {title} zocht niet verder en is geschreven met wat er was.",
    stop="Tak {title} werd gestopt.",
    kept="Wat gevonden was, bleef behouden (feiten: {facts}).",
    drop="Tak {title} werd geschrapt; wat gevonden was, is weggelaten.",
    retry="Tak {title} werd opnieuw geprobeerd.",
    too_late="Tak {title} had opnieuw geprobeerd moeten worden, maar dat kwam te laat.",
    guidance="Een aanwijzing voor de volgende rondes: {words}",
    restart="Het onderzoek werd opnieuw opgepakt; wat mislukt of gestopt was, werd opnieuw geprobeerd.",
    stopped_note="door u voor het einde gestopt; wat gevonden was, is gebruikt",
    dropped_note="door u geschrapt; wat gevonden was, is weggelaten",
)
_SV = ChangeWording(
    lead="Ändringar efter godkännandet:",
    line="Ändring {number}, vid {time}: {text}",
    domains="Sökning och läsning skedde bara i {value}.",
    exclude="Inget från {value} söktes eller lästes.",
    since="Bara dokument från och med {start} användes.",
    until="Bara dokument till och med {end} användes.",
    between="Bara dokument från {start} till {end} användes.",
    total="Tiden kortades till sammanlagt {value}.",
    from_then_on="Det gällde från och med då; vad som redan lästs fick vara kvar.",
    finish="Ingen mer sökning gjordes; rapporten skrevs av det som fanns.",
    finish_branch="Gren {title} sökte inte vidare och skrevs av det som fanns.",
    stop="Gren {title} stoppades.",
    kept="Det som hittats behölls (fakta: {facts}).",
    drop="Gren {title} ströks; det som hittats är utelämnat.",
    retry="Gren {title} prövades på nytt.",
    too_late="Gren {title} skulle prövas på nytt, men det kom för sent.",
    guidance="En anvisning för de följande omgångarna: {words}",
    restart="Körningen togs upp på nytt; det som misslyckats eller stoppats prövades igen.",
    stopped_note="stoppad av dig i förtid; det som hittats används",
    dropped_note="struken av dig; det som hittats är utelämnat",
)
_FR = ChangeWording(
    lead="Modifications après l'autorisation :",
    line="Modification {number}, à {time} : {text}",
    domains="Seul {value} a été consulté.",
    exclude="Rien de {value} n'a plus été cherché ni lu.",
    since="Seuls les documents à partir de {start} ont été retenus.",
    until="Seuls les documents jusqu'à {end} ont été retenus.",
    between="Seuls les documents de {start} à {end} ont été retenus.",
    total="La durée a été ramenée à {value} en tout.",
    from_then_on="Cela valait à partir de ce moment ; ce qui avait été lu avant est resté.",
    finish="Aucune autre recherche n'a été faite ; le rapport a été écrit avec ce qui était là.",
    finish_branch="La branche {title} n'a plus cherché et a été écrite avec ce qu'elle avait.",
    stop="La branche {title} a été arrêtée.",
    kept="Ce qu'elle avait trouvé a été gardé (faits : {facts}).",
    drop="La branche {title} a été abandonnée ; ce qu'elle avait trouvé est laissé de côté.",
    retry="La branche {title} a été tentée à nouveau.",
    too_late="La branche {title} devait être tentée à nouveau, mais c'était trop tard.",
    guidance="Une consigne pour les tours suivants : {words}",
    restart="La recherche a été reprise ; ce qui avait échoué ou été arrêté a été tenté à nouveau.",
    stopped_note="arrêtée par vous avant la fin ; ce qu'elle avait trouvé est utilisé",
    dropped_note="abandonnée par vous ; ce qu'elle avait trouvé est laissé de côté",
)
_ES = ChangeWording(
    lead="Cambios después de la autorización:",
    line="Cambio {number}, a los {time}: {text}",
    domains="Solo se buscó y se leyó en {value}.",
    exclude="No se buscó ni se leyó nada más de {value}.",
    since="Solo se usaron documentos desde {start}.",
    until="Solo se usaron documentos hasta {end}.",
    between="Solo se usaron documentos de {start} a {end}.",
    total="El tiempo se acortó a {value} en total.",
    from_then_on="Valió desde entonces; lo leído antes se conservó.",
    finish="No se buscó más; el informe se escribió con lo que había.",
    finish_branch="La rama {title} no buscó más y se escribió con lo que tenía.",
    stop="La rama {title} se detuvo.",
    kept="Lo que había encontrado se conservó (hechos: {facts}).",
    drop="La rama {title} se descartó; lo que había encontrado queda fuera.",
    retry="La rama {title} se intentó de nuevo.",
    too_late="La rama {title} debía intentarse de nuevo, pero llegó demasiado tarde.",
    guidance="Una indicación para las rondas siguientes: {words}",
    restart="La investigación se retomó; lo que había fallado o se había detenido se intentó de nuevo.",
    stopped_note="detenida por usted antes de terminar; se usa lo que había encontrado",
    dropped_note="descartada por usted; lo que había encontrado queda fuera",
)
_IT = ChangeWording(
    lead="Modifiche dopo l'autorizzazione:",
    line="Modifica {number}, a {time}: {text}",
    domains="Si è cercato e letto solo in {value}.",
    exclude="Nulla di {value} è stato più cercato o letto.",
    since="Sono stati usati solo documenti dal {start}.",
    until="Sono stati usati solo documenti fino al {end}.",
    between="Sono stati usati solo documenti dal {start} al {end}.",
    total="Il tempo è stato ridotto a {value} in tutto.",
    from_then_on="Questo valeva da allora; ciò che era stato letto prima è rimasto.",
    finish="Non si è cercato oltre; il rapporto è stato scritto con ciò che c'era.",
    finish_branch="Il ramo {title} non ha cercato oltre ed è stato scritto con ciò che aveva.",
    stop="Il ramo {title} è stato fermato.",
    kept="Ciò che aveva trovato è stato tenuto (fatti: {facts}).",
    drop="Il ramo {title} è stato scartato; ciò che aveva trovato è omesso.",
    retry="Il ramo {title} è stato ritentato.",
    too_late="Il ramo {title} andava ritentato, ma era troppo tardi.",
    guidance="Un'indicazione per i giri seguenti: {words}",
    restart="La ricerca è stata ripresa; ciò che era fallito o fermato è stato ritentato.",
    stopped_note="fermato da Lei prima della fine; ciò che aveva trovato è usato",
    dropped_note="scartato da Lei; ciò che aveva trovato è omesso",
)
_PT = ChangeWording(
    lead="Alterações depois da autorização:",
    line="Alteração {number}, aos {time}: {text}",
    domains="Só se pesquisou e leu em {value}.",
    exclude="Nada mais de {value} foi pesquisado ou lido.",
    since="Só foram usados documentos desde {start}.",
    until="Só foram usados documentos até {end}.",
    between="Só foram usados documentos de {start} a {end}.",
    total="O tempo foi encurtado para {value} no total.",
    from_then_on="Valeu desde então; o que fora lido antes ficou.",
    finish="Não se pesquisou mais; o relatório foi escrito com o que havia.",
    finish_branch="O ramo {title} não pesquisou mais e foi escrito com o que tinha.",
    stop="O ramo {title} foi parado.",
    kept="O que tinha encontrado foi mantido (factos: {facts}).",
    drop="O ramo {title} foi descartado; o que tinha encontrado fica de fora.",
    retry="O ramo {title} foi tentado de novo.",
    too_late="O ramo {title} devia ser tentado de novo, mas era tarde demais.",
    guidance="Uma indicação para as rondas seguintes: {words}",
    restart="A pesquisa foi retomada; o que falhara ou fora parado foi tentado de novo.",
    stopped_note="parado por si antes do fim; o que tinha encontrado é usado",
    dropped_note="descartado por si; o que tinha encontrado fica de fora",
)
_JA = ChangeWording(
    lead="承認後の変更：",
    line="変更 {number}（{time}）：{text}",
    domains="{value} のみを検索し、読みました。",
    exclude="{value} は検索も閲覧も行いませんでした。",
    since="{start} 以降の文書のみを使用しました。",
    until="{end} までの文書のみを使用しました。",
    between="{start} から {end} までの文書のみを使用しました。",
    total="時間を全体で {value} に短縮しました。",
    from_then_on="これはその時点から適用され、それ以前に読んだものは残しました。",
    finish="それ以上の検索は行わず、その時点の内容から報告を書きました。",
    finish_branch="枝 {title} はそれ以上検索せず、その時点の内容から書かれました。",
    stop="枝 {title} は停止されました。",
    kept="見つかっていたものは残しました（事実：{facts}）。",
    drop="枝 {title} は破棄され、見つかっていたものは含めていません。",
    retry="枝 {title} は再度試されました。",
    too_late="枝 {title} を再度試す指示は間に合いませんでした。",
    guidance="以後の回への指示：{words}",
    restart="調査を再開し、失敗または停止したものを再度試しました。",
    stopped_note="利用者が途中で停止。見つかっていたものは使用",
    dropped_note="利用者が破棄。見つかっていたものは含めず",
)
_ZH = ChangeWording(
    lead="授权之后的更改：",
    line="更改 {number}（{time}）：{text}",
    domains="只在 {value} 中搜索和阅读。",
    exclude="不再搜索或阅读 {value} 的内容。",
    since="只使用 {start} 以后的文献。",
    until="只使用 {end} 以前的文献。",
    between="只使用 {start} 至 {end} 的文献。",
    total="总时间缩短为 {value}。",
    from_then_on="自此生效；此前已读的内容保留。",
    finish="不再搜索；报告依据已有内容写成。",
    finish_branch="分支 {title} 不再搜索，依据已有内容写成。",
    stop="分支 {title} 已被停止。",
    kept="已找到的内容予以保留（事实：{facts}）。",
    drop="分支 {title} 已被放弃，其已找到的内容未予采用。",
    retry="分支 {title} 已重新尝试。",
    too_late="分支 {title} 本应重新尝试，但为时已晚。",
    guidance="给后续各轮的提示：{words}",
    restart="研究重新开始；失败或被停止的部分已再次尝试。",
    stopped_note="由您提前停止；已找到的内容予以采用",
    dropped_note="由您放弃；已找到的内容未予采用",
)
_AR = ChangeWording(
    lead="التغييرات بعد الإذن:",
    line="التغيير {number} عند {time}: {text}",
    domains="اقتصر البحث والقراءة على {value}.",
    exclude="لم يُبحث في {value} ولم يُقرأ منه شيء بعد ذلك.",
    since="استُخدمت الوثائق الصادرة منذ {start} فقط.",
    until="استُخدمت الوثائق الصادرة حتى {end} فقط.",
    between="استُخدمت الوثائق الصادرة من {start} إلى {end} فقط.",
    total="قُصّر الوقت إلى {value} إجمالًا.",
    from_then_on="سرى ذلك من حينها؛ وبقي ما قُرئ قبله.",
    finish="لم يُجرَ بحث آخر؛ وكُتب التقرير مما توفّر.",
    finish_branch="لم يواصل الفرع {title} البحث وكُتب مما توفّر له.",
    stop="أُوقف الفرع {title}.",
    kept="أُبقي على ما وجده (الحقائق: {facts}).",
    drop="أُسقط الفرع {title}؛ ولم يُستخدم ما وجده.",
    retry="أُعيدت محاولة الفرع {title}.",
    too_late="كان ينبغي إعادة محاولة الفرع {title}، لكن الأوان كان قد فات.",
    guidance="ملاحظة للجولات التالية: {words}",
    restart="استُؤنف البحث؛ وأُعيدت محاولة ما فشل أو أُوقف.",
    stopped_note="أوقفتَه قبل أن يكتمل؛ واستُخدم ما وجده",
    dropped_note="أسقطتَه؛ ولم يُستخدم ما وجده",
)

LANGUAGES: Mapping[str, ChangeWording] = {
    "en": _EN, "de": _DE, "nl": _NL, "sv": _SV, "fr": _FR, "es": _ES, "it": _IT, "pt": _PT,
    "ja": _JA, "zh": _ZH, "ar": _AR,
}  # fmt: skip


def change_wording(language: str) -> ChangeWording:
    """Give the wording for a BCP 47 tag: its base language, else English."""
    return LANGUAGES.get(base_language(language), _EN)
