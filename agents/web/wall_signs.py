"""Phrases and markup by which pages are known that stand in the way of a text, in the languages of the web."""

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


ROBOT_NAMES = _any(
    r"\b(?:are|if) (?:that )?you(?:'re| are)? (?:not )?(?:a )?(?:robot|human)",
    r"\byou are (?:not )?(?:a )?(?:robot|human)\b",
    r"\b(?:verify|verifying|confirm|prove) (?:that )?you(?:'re| are)? (?:a |not a )?(?:human|robot)",
    r"^just a (?:second|moment)",
    r"\bone (?:more step|moment, please)",
    r"\battention required\b",
    r"\b(?:security|robot|bot|browser) check\b",
    r"\bcaptcha\b",
    r"\bhuman verification\b",
    r"\baccess (?:to this page has been |is )?denied\b",
    r"^(?:request )?(?:blocked|forbidden)\b",
    r"\bchecking your browser\b",
    r"\bpardon our interruption\b",
    r"\b(?:kein|ein) roboter\b",
    r"\bpas un robot\b",
    r"\bno (?:eres|soy) un robot\b",
    r"\bnon sei un robot\b",
    r"\bgeen robot\b",
    r"\binte en robot\b",
    r"\bне робот\b",
    r"机器人|人机验证|安全验证|ロボットでは",
)
"""Titles and headings of checks against robots."""

ROBOT_ASKS = (
    _any(
        r"\byour (?:browser|connection|request) (?:is being|will be|needs to be|must be) (?:checked|verified"
        r"|reviewed)",
        r"\b(?:checking|verifying|reviewing) (?:your|the security of your) (?:browser|connection)",
        r"\bneeds? to (?:review|verify|check) (?:the security of )?your",
        r"\b(?:ihr|dein) browser wird\b",
        r"\bunusual traffic\b",
        r"\bvotre navigateur\b.{0,40}\bvérifi",
    ),
    _any(
        r"\bbefore you (?:can )?(?:continue|proceed|go on|access|enter)\b",
        r"\bto continue\b.{0,60}\b(?:captcha|verif|confirm|check)",
        r"\bto (?:access|continue to) this (?:site|page|website)\b",
        r"\b(?:redirected|forwarded) (?:automatically|shortly)\b",
        r"\bthis (?:may|should|will|process)\b.{0,20}\b(?:take|automatic)",
        r"\bbevor sie (?:fortfahren|weiter)",
    ),
    _any(
        r"\b(?:enable|switch on|turn on|activate|allow)\b.{0,30}\b(?:javascript|cookies)\b",
        r"\b(?:javascript|cookies)\b.{0,30}\baktivier",
        r"\bactive[rz]\b.{0,30}\b(?:javascript|cookies)\b",
        r"\bhabilit\w+\b.{0,30}\b(?:javascript|cookies)\b",
    ),
    _any(
        r"\b(?:complete|solve|pass|enter)\b.{0,30}\b(?:captcha|challenge|puzzle|check|characters)\b",
        r"\bpress (?:&|and) hold\b",
        r"\bsolves? a (?:small )?(?:task|challenge)\b",
        r"\b(?:ray id|reference(?: (?:id|number))?|incident id|request id)\b\s*[:#]?\s*[0-9a-f]{6,}",
        r"\b(?:contact|e-?mail) the (?:site|website) (?:owner|administrator)",
    ),
)
"""Four things that such checks tell their visitor; articles about them tell one or two."""

ROBOT_MARKUP = _any(
    r"/cdn-cgi/challenge-platform",
    r"\bcf[-_]chl",
    r"\bpx-captcha\b",
    r"\b_Incapsula_",
    r"captcha-delivery\.com",
    r"\bgeo\.captcha",
    r"\bawswaf\b",
    r"\bak_bmsc\b",
    r"\bdistil_r_",
    r"/_sec/cp_challenge",
)
"""Scripts of services that check."""

CAPTCHA_FIELD = _any(
    r"class=[\"'][^\"']*\b(?:g-recaptcha|h-captcha|cf-turnstile)\b",
)
"""A form field that ordinary contact forms have too."""

LOG_IN = _any(
    r"\b(?:log|sign)(?:ged)?[ -]?in\b",
    r"\b(?:create|register for) an? (?:free )?account\b",
    r"\bmembers only\b",
    r"\beinloggen\b",
    r"\banmeld",
    r"\bconnectez-vous\b",
    r"\bse connecter\b",
    r"\binici(?:a|ar|e) sesión\b",
    r"\baccedi\b",
    r"\binloggen\b",
    r"\blogga in\b",
    r"\bfazer login\b",
    r"\bвойдите\b|\bвход\b",
    r"登录|登陆|ログイン",
)
"""Titles of log-ins, and what stands beside their fields."""

PASSWORD = _any(
    r"<input[^>]{0,200}\btype\s*=\s*[\"']?password\b",
)
"""A field for a password."""

REGION = _any(
    r"\bnot (?:currently )?(?:available|accessible) (?:in|from|to (?:visitors|users) (?:in|from)) your (?:region"
    r"|country|location|area)\b",
    r"\bunavailable for legal reasons\b",
    r"\bin (?:ihrem|deinem) (?:land|region)\b.{0,40}\bnicht (?:verfügbar|abrufbar)\b",
    r"\bnicht (?:verfügbar|abrufbar) in (?:ihrem|deinem)\b",
    r"\bpas disponible dans votre (?:pays|région)\b",
    r"\bno (?:está )?disponible en (?:tu|su) (?:país|región)\b",
    r"\bnon (?:è )?disponibile nel tuo paese\b",
    r"\b(?:european|eu)\b.{0,60}\b(?:gdpr|general data protection)\b.{0,120}\b(?:unavailable|cannot|unable|block)",
)
"""Texts that are kept from some countries."""

NOT_FOUND = _any(
    r"\b(?:page|article|document|content|story|file|site)\b.{0,25}\b(?:not found|(?:does ?n[o']t|do not"
    r"|no longer) exists?|was removed|has been removed|is gone)\b",
    r"^(?:error )?404\b",
    r"^not found\b",
    r"\b(?:could ?n[o']t|cannot|can't|unable to) find (?:that|the|this|your) (?:page|article|document|site)",
    r"\bno longer available\b",
    r"\bnothing (?:was )?found here\b",
    r"\bseite (?:wurde )?nicht gefunden\b",
    r"\bpage (?:introuvable|non trouvée)\b",
    r"\bpágina no encontrada\b",
    r"\bpagina non trovata\b",
    r"\bpágina não encontrada\b",
    r"\bpagina niet gevonden\b",
    r"\bsidan (?:kunde inte hittas|finns inte|hittades inte)\b",
    r"\bстраница не найдена\b",
    r"页面不存在|找不到页面|ページが見つかりません",
)
"""Titles of pages in the place of ones that are gone."""

PAYS = _any(
    r"\b(?:subscribe|subscription|sign up|become a (?:member|subscriber))\b.{0,80}\b(?:read on|(?:continue"
    r"|keep) reading|read (?:the )?(?:full|whole|rest|more)|full access|unlock|unlimited)",
    r"\bto (?:continue|keep) reading\b.{0,80}\b(?:subscrib|member|log in|sign|regist|trial|account|plan)",
    r"\b(?:end of the free (?:part|preview|section)|reached your (?:limit|free)|free articles? (?:left|remaining"
    r"|this month))",
    r"\bthis (?:article|content|story) is (?:reserved )?(?:only )?(?:for"
    r"|available to) (?:our )?(?:paying )?(?:subscribers|members)\b",
    r"\b(?:only available to|exclusively for|reserved for) (?:our )?(?:subscribers|members|abonnenten)\b",
    r"\bsubscriber[- ]only\b",
    r"\b(?:mit|im) (?:\w+ )?abo\b.{0,60}\b(?:weiterlesen|lesen)\b",
    r"\bweiterlesen\b.{0,60}\b(?:abo|abonnement|plus)\b",
    r"\bréservé (?:aux|à nos) abonnés\b",
    r"\babonnez-vous pour\b",
    r"\bsuscríb\w+ para (?:seguir|continuar|leer)\b",
    r"\babbonati per (?:continuare|leggere)\b",
    r"\bprenumerera för att läsa\b",
    r"\babonneer\b.{0,40}\b(?:lezen|verder)\b",
)
"""Demands to subscribe."""

PAY_MARKUP = _any(
    r"[\"']isAccessibleForFree[\"']\s*:\s*[\"']?false",
    r"\b(?:class|id)\s*=\s*[\"'][^\"']*\b(?:paywall|regwall|piano-offer|meter-wall)\b",
)
"""What pages with a paywall say to search engines, and what they call it."""

COOKIES = _any(
    r"\bcookies?\b",
    r"\b(?:personal data|your (?:privacy|choice)|consent|partners)\b",
    r"\bdatenschutz|einwillig|zustimm",
    r"\bconsentement|vie privée|consentimiento|privacidad|consenso|toestemming|samtyck",
)
"""What requests for consent are about."""

CONSENTS = _any(
    r"\b(?:accept|agree|reject|refuse|decline|manage)\b",
    r"\bakzeptier|ablehn|zustimm",
    r"\baccepte|refuse|aceptar|rechazar|accetta|rifiuta",
    r"\baccepteer|weiger|godkänn|avvisa",
)
"""What they ask for."""

ADDRESSES = _any(
    r"\b(?:we|our|us|you|your)\b",
    r"\b(?:wir|unsere?|ihre?|sie)\b",
    r"\b(?:nous|nos|vous|votre|nosotros|usted|tu|noi|nostri|vi|våra|wij|onze|nós|nossos)\b",
)
"""Words of somebody who speaks to somebody."""

SHELL = _any(
    r"<div[^>]{0,80}\bid\s*=\s*[\"']?(?:root|app|__next|__nuxt|___gatsby|main-app|app-root"
    r"|svelte)[\"']?[^>]{0,80}>\s*</div>",
    r"<app-root[^>]*>\s*</app-root>",
)
"""The empty element that a script fills."""

NEEDS_SCRIPT = _any(
    r"\b(?:enable|turn on|switch on|activate|requires?|needs?|without|supports?)\b.{0,40}\bjava ?script\b",
    r"\bjava ?script\b.{0,60}\b(?:required|disabled|enable|needed|not enabled|aktivier|activ|habilit|abilit)",
)
"""What such pages say without it."""

ARTICLE = _any(
    r"<article\b",
    r"\bproperty\s*=\s*[\"']og:type[\"'][^>]{0,40}article",
    r"\bdatePublished\b",
    r"\barticle:published_time\b",
    r"\brel\s*=\s*[\"']author",
)
"""Markup of articles."""
