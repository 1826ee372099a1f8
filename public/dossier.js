/* Dossier: what the chat page needs beside its own script.
 *
 *  - `window.dossier`: icons, words and number formats the custom elements share;
 *  - citation chips: hover or focus shows the quote in its context, a click pins it, Escape closes it;
 *  - links to a place on the same page scroll there;
 *  - the line that greets on an empty page.
 *
 * Text that came from a source is only ever set as text, never parsed as HTML.
 */
import * as run from './run_state.js';
import { WORDS } from './words.js';

// Light or dark as the computer has it, until somebody chooses; this runs before the page itself.
try {
  if (!localStorage.getItem('vite-ui-theme')) localStorage.setItem('vite-ui-theme', 'system');
} catch {
  /* no storage: light */
}

// ------------------------------------------------------------------ icons
// [tag, attributes] on a 24 grid; strokes take the text colour, `cut` takes the ground's.
const FILL = { fill: 'currentColor', stroke: 'none' };
const CUT = { fill: 'none', className: 'ds-cut' };
const ICONS = {
  queued: [['circle', { cx: 12, cy: 12, r: 8.4, strokeDasharray: '3.3 3.3' }]],
  searching: [
    ['circle', { cx: 10.6, cy: 10.6, r: 6.4 }],
    ['path', { d: 'm15.4 15.4 5 5' }],
  ],
  reading: [
    [
      'path',
      { d: 'M12 6.4C9.6 5 6.4 4.7 3 5v13.3c3.4-.3 6.6 0 9 1.4 2.4-1.4 5.6-1.7 9-1.4V5c-3.4-.3-6.6 0-9 1.4zm0 0v13.3' },
    ],
  ],
  writing: [['path', { d: 'M4.5 16.5 15.9 5.1a2 2 0 0 1 2.8 0l.2.2a2 2 0 0 1 0 2.8L7.5 19.5H4.5zM12.5 20h8' }]],
  retrying: [
    ['path', { d: 'M19.6 13.6A8 8 0 1 1 18 6.8' }],
    ['path', { d: 'M18.8 2.8v4.6h-4.6' }],
  ],
  working: [
    ['circle', { cx: 12, cy: 12, r: 8.4 }],
    ['circle', { cx: 12, cy: 12, r: 3, ...FILL }],
  ],
  done: [
    ['circle', { cx: 12, cy: 12, r: 9.4, ...FILL }],
    ['path', { d: 'm7.8 12.4 2.9 2.9 5.6-6', ...CUT }],
  ],
  partial: [
    ['circle', { cx: 12, cy: 12, r: 8.6 }],
    ['path', { d: 'M12 3.4a8.6 8.6 0 0 0 0 17.2z', ...FILL }],
  ],
  failed: [
    ['path', { d: 'M8.1 2.6h7.8l5.5 5.5v7.8l-5.5 5.5H8.1l-5.5-5.5V8.1z', ...FILL }],
    ['path', { d: 'm8.9 8.9 6.2 6.2m0-6.2-6.2 6.2', ...CUT }],
  ],
  stopped: [
    ['circle', { cx: 12, cy: 12, r: 8.6 }],
    ['rect', { x: 8.6, y: 8.6, width: 6.8, height: 6.8, rx: 1, ...FILL }],
  ],
  tick: [['path', { d: 'm5 12.6 4.6 4.6L19.2 7' }]],
  triangle: [['path', { d: 'M12 4 2.9 19.6h18.2zM12 10v4.2M12 17v.1' }]],
  down: [['path', { d: 'm6.5 9.5 5.5 5.5 5.5-5.5' }]],
  right: [['path', { d: 'm9.5 6.5 5.5 5.5-5.5 5.5' }]],
  moveup: [['path', { d: 'M12 19V5.4M6.4 11 12 5.4 17.6 11' }]],
  movedown: [['path', { d: 'M12 5v13.6M6.4 13l5.6 5.6 5.6-5.6' }]],
  drop: [['path', { d: 'M4.5 6.8h15M9.5 6.5V4.2h5v2.3M6.5 6.8l.9 13h9.2l.9-13' }]],
  plus: [['path', { d: 'M12 5.2v13.6M5.2 12h13.6' }]],
  close: [['path', { d: 'M6 6l12 12M18 6 6 18' }]],
  copy: [
    ['rect', { x: 8.5, y: 8.5, width: 11.5, height: 11.5, rx: 2 }],
    ['path', { d: 'M15.5 5.3V5a1.5 1.5 0 0 0-1.5-1.5H5A1.5 1.5 0 0 0 3.5 5v9A1.5 1.5 0 0 0 5 15.5h.4' }],
  ],
  panel: [
    ['rect', { x: 3.5, y: 4.5, width: 17, height: 15, rx: 2 }],
    ['path', { d: 'M9.5 4.5v15' }],
  ],
  out: [
    [
      'path',
      { d: 'M10 5H6.5A1.5 1.5 0 0 0 5 6.5v11A1.5 1.5 0 0 0 6.5 19h11a1.5 1.5 0 0 0 1.5-1.5V14M13.5 4.5h6v6M19 5l-8 8' },
    ],
  ],
  flag: [['path', { d: 'M5.5 21V4.2h11.8l-2.4 4.1 2.4 4.2H5.5' }]],
  square: [['rect', { x: 6.5, y: 6.5, width: 11, height: 11, rx: 1.5 }]],
  info: [
    ['circle', { cx: 12, cy: 12, r: 8.8 }],
    ['path', { d: 'M12 11v5.4M12 7.7v.1' }],
  ],
};
const SVG = 'http://www.w3.org/2000/svg';
const hyphen = (k) => (k === 'className' ? 'class' : k === 'strokeDasharray' ? 'stroke-dasharray' : k);
const SHELL = {
  viewBox: '0 0 24 24',
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 1.8,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
  'aria-hidden': true,
  focusable: 'false',
};

/** An icon as React element; `React` is the caller's. */
const Icon = (React, name, size = 16, cls = '') =>
  React.createElement(
    'svg',
    { ...SHELL, width: size, height: size, className: 'ds-icon ' + cls },
    (ICONS[name] || ICONS.working).map(([tag, at], i) => React.createElement(tag, { key: i, ...at })),
  );

/** The same icon as DOM node. */
function icon(name, size = 16) {
  const svg = document.createElementNS(SVG, 'svg');
  for (const [k, v] of Object.entries({
    viewBox: '0 0 24 24',
    fill: 'none',
    stroke: 'currentColor',
    'stroke-width': 1.8,
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
    'aria-hidden': 'true',
    width: size,
    height: size,
    class: 'ds-icon',
  }))
    svg.setAttribute(k, v);
  for (const [tag, at] of ICONS[name] || ICONS.working) {
    const part = document.createElementNS(SVG, tag);
    for (const [k, v] of Object.entries(at)) part.setAttribute(hyphen(k), v);
    svg.append(part);
  }
  return svg;
}

// ------------------------------------------------------------------ words and figures
// The page speaks the language of the talk (a card says it), before that the browser's; English where it has no words.
let tongue = navigator.language.slice(0, 2);
let table = WORDS[tongue] ?? {};
const speak = (language) => {
  if (!language) return;
  tongue = language;
  table = WORDS[language] ?? {};
  if (!english() && !reasons[language]) {
    reasons[language] = {};
    fetch(`${rootPath}/words/${language}/reasons`, { credentials: 'include' })
      .then((r) => (r.ok ? r.json() : {}))
      .then((found) => Object.assign(reasons[language], found))
      .catch(() => delete reasons[language]);
  }
};
/** What a run tells, as the server words it (agents/report/locales, agents/chat/locales), by language. */
const reasons = {};
/** What the server tells in the page's language: a sentence, or its form with values; `more` follows it. */
function said(told) {
  const known = (text) => reasons[tongue]?.[text] ?? table[text] ?? text;
  if (english() || !told?.form) return told?.text ?? known(told);
  const { more, ...values } = Object.fromEntries(Object.entries(told.values).map(([name, one]) => [name, said(one)]));
  const text = filled(known(told.form), values);
  return more ? `${text.replace(/\.$/, '')}: ${more.replace(/\.$/, '')}${more.endsWith('?') ? '' : '.'}` : text;
}
/** Whether the page speaks English, in which the server tells more than there are sentences for elsewhere. */
const english = () => Object.keys(table).length === 0;
/** A line that the server tells: all of it in English, else as much as there is a sentence for. */
const told = (line) => (english() || line?.form || said(line) !== line ? said(line) : '');
/** A text of ours in the page's language, with its values. */
const t = (text, values = {}) => filled(table[text] ?? text, values);
/** Write values into a text; `{n:fact|facts}` is the form of a word that goes with the number `n`. */
const filled = (text, values) =>
  text.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (all, name, one, more) => {
    if (!(name in values)) return all;
    return one === undefined ? values[name] : Number(values[name]) === 1 ? one : more;
  });

const VERDICTS = {
  supported: ['Supported', 'good', 'tick'],
  partly: ['Qualified', 'caution', 'partial'],
  qualified: ['Qualified', 'caution', 'partial'],
  unsupported: ['Unverified', 'bad', 'triangle'],
  contradicted: ['Contradicted', 'bad', 'triangle'],
  refuted: ['Contradicted', 'bad', 'triangle'],
  contested: ['Contested', 'bad', 'triangle'],
  insufficient: ['Insufficient evidence', 'caution', 'partial'],
  uncited: ['No source given', 'caution', 'triangle'],
  no_fact: ['Not a factual statement', 'quiet', 'info'],
  unchecked: ['Not checked yet', 'quiet', 'queued'],
  not_checked: ['Not checked yet', 'quiet', 'queued'],
  quoted: ['Quoted', 'quiet', 'info'],
  gone: ['No longer on its page', 'caution', 'triangle'],
};
/** Verdict word, tone and shape; nothing said yet reads "Not checked yet". */
function verdict(value) {
  const [word, tone, shape] = VERDICTS[value] ?? VERDICTS.unchecked;
  return { word: t(word), tone, shape };
}

const pad = (n) => String(n).padStart(2, '0');
/** 372 -> "6:12", 3700 -> "1:01:40" */
function clock(seconds) {
  const s = Math.max(0, Math.floor(seconds || 0)),
    h = Math.floor(s / 3600),
    m = Math.floor((s % 3600) / 60);
  return h ? `${h}:${pad(m)}:${pad(s % 60)}` : `${m}:${pad(s % 60)}`;
}
const plural = (n, one, many = one + 's') => `${n} ${t(n === 1 ? one : many)}`;
/** 372 -> "6 minutes 12" for a screen reader */
function spoken(seconds) {
  const s = Math.max(0, Math.floor(seconds || 0)),
    m = Math.floor(s / 60);
  if (!m) return plural(s, 'second');
  return s % 60 ? `${plural(m, 'minute')} ${s % 60}` : plural(m, 'minute');
}
/** 0.7134 -> "$0.71"; a tenth of a cent still shows */
function money(usd) {
  if (usd === null || usd === undefined || Number.isNaN(+usd)) return '–';
  const v = +usd;
  if (v > 0 && v < 0.01) return '<$0.01';
  return '$' + v.toFixed(v >= 100 ? 0 : 2);
}
/** 412345 -> "412 k" */
function count(n) {
  const v = +n || 0;
  if (v >= 1e6) return (v / 1e6).toFixed(v >= 1e7 ? 0 : 1) + ' M';
  if (v >= 1e4) return Math.round(v / 1e3) + ' k';
  if (v >= 1e3) return (v / 1e3).toFixed(1) + ' k';
  return String(v);
}
/** A published date as people write it; anything else is given back as it came. */
function day(value) {
  const text = String(value ?? '').trim();
  const m = /^(\d{4})-(\d{2})(?:-(\d{2}))?(?:T.*)?$/.exec(text);
  if (!m) return text;
  const at = new Date(Date.UTC(+m[1], +m[2] - 1, m[3] ? +m[3] : 1));
  if (Number.isNaN(+at)) return text;
  return at.toLocaleDateString(english() ? 'en-GB' : tongue, {
    day: m[3] ? 'numeric' : undefined,
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
}
/** Only web addresses become links. */
function webAddress(value) {
  try {
    const u = new URL(value, location.href);
    return u.protocol === 'http:' || u.protocol === 'https:' ? u.href : '';
  } catch {
    return '';
  }
}

const shared = {
  run,
  Icon,
  icon,
  verdict,
  clock,
  spoken,
  money,
  count,
  plural,
  day,
  webAddress,
  speak,
  t,
  told,
  said,
};
window.dossier = Object.freeze(shared);

// ------------------------------------------------------------------ citation chips
/** Path below which a proxy serves us, as the page says. */
const rootPath = (document.querySelector('meta[property="og:root_path"]')?.content || '').replace(/\/$/, '');

// ------------------------------------------------------------------ a cut connection
/* Chainlit's page leaves the chat for the empty first page when one of its own questions fails by a cut connection,
 * though the chat is on the server and goes on there; a card whose script did not come stays an error for good.
 * Such a question is asked again until there is an answer. */
const CHAINLIT_ASKS = ['/user', '/auth/config', '/project/', '/public/elements/'];
const plainFetch = window.fetch.bind(window);

function networkIsBack() {
  return new Promise((resolve) => {
    const beat = setTimeout(resolve, 1000);
    window.addEventListener('online', () => (clearTimeout(beat), resolve()), { once: true });
  });
}

window.fetch = async (asked, how = {}) => {
  const { origin, pathname } = new URL(asked.url ?? asked, window.location.href);
  const path = pathname.slice(rootPath.length);
  const again =
    (how.method ?? asked.method ?? 'GET') === 'GET' &&
    origin === window.location.origin &&
    CHAINLIT_ASKS.some((start) => path.startsWith(start));
  for (;;) {
    try {
      return await plainFetch(asked, how);
    } catch (e) {
      if (!again || how.signal?.aborted || asked.signal?.aborted) throw e;
      await networkIsBack();
    }
  }
};

const CHIP = 'a[href*="/quote/"]:is([href*="/research/jobs/"], [href*="/memory/"]):not(.ds-plain)';
const narrow = matchMedia('(max-width: 640px)');
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const kept = new Map(); // address -> promise of the quote
let pop = null; // { chip, box, veil, pinned, back }
let showTimer = 0,
  hideTimer = 0;

const chipOf = (e) => (e.target instanceof Element ? e.target.closest(CHIP) : null);

function quoteOf(chip) {
  const at = new URL(chip.href, location.href);
  if (at.origin !== location.origin) return Promise.reject(new Error('elsewhere'));
  at.searchParams.set('format', 'json');
  at.hash = '';
  if (!kept.has(at.href)) {
    const asked = fetch(at.href, { credentials: 'include', headers: { Accept: 'application/json' } }).then((r) => {
      if (!r.ok) throw new Error(r.status === 404 ? 'gone' : 'failed');
      return r.json();
    });
    asked.catch(() => kept.delete(at.href));
    kept.set(at.href, asked);
  }
  return kept.get(at.href);
}

function make(tag, cls, text) {
  const el = document.createElement(tag);
  if (cls) el.className = cls;
  if (text !== undefined && text !== null) el.textContent = text;
  return el;
}
function link(cls, href, text, iconName) {
  const a = make('a', cls);
  a.href = href;
  a.target = '_blank';
  a.rel = 'noopener noreferrer';
  if (iconName) a.append(icon(iconName, 14));
  a.append(document.createTextNode(text));
  return a;
}

function fill(box, chip, q) {
  // what was found of the sentence that the chip stands behind: another one may rest on the same words
  const own = chip.dataset.verdict || q.verdict;
  const why = own === q.verdict ? q.why : '';
  const v = verdict(own);
  const head = box.querySelector('.ds-pop-head');
  const tag = make('span', `ds-tag ds-${v.tone}`);
  tag.append(icon(v.shape, 13), document.createTextNode(v.word));
  const since = q.known_since && t('known since {date}', { date: q.known_since });
  head.replaceChildren(
    tag,
    make('span', 'ds-pop-why', [why || (q.note && t(q.note)), since].filter(Boolean).join(' · ')),
    head.querySelector('.ds-pop-close'),
  );

  const quote = make('blockquote', 'ds-pop-quote');
  quote.tabIndex = 0; // long ones scroll
  quote.dir = 'auto';
  if (q.language) quote.lang = q.language;
  if (q.before) quote.append(make('span', 'ds-pop-around', q.before.trimEnd() + ' '));
  quote.append(make('mark', '', q.quote || ''));
  if (q.after) {
    const rest = q.after.trimEnd();
    quote.append(make('span', 'ds-pop-around', (/^[\s.,;:!?)\]’”]/.test(rest) ? '' : ' ') + rest));
  }

  const title = make('p', 'ds-pop-title', q.title || q.site || q.url || t('Untitled source'));
  title.dir = 'auto';
  const meta = make(
    'p',
    'ds-pop-meta',
    [
      ...new Set([q.author, q.site]),
      q.published ? day(q.published) : t('no date given'),
      q.page ? t('p. {n}', { n: q.page }) : '',
    ]
      .filter(Boolean)
      .join(' · '),
  );

  const foot = make('div', 'ds-pop-foot');
  foot.append(link('ds-btn ds-plain', chip.href, t('Open in context'), 'out'));
  const original = webAddress(q.url);
  if (original) foot.append(link('ds-link', original, t('Original page')));

  box.querySelector('.ds-pop-body').replaceChildren(quote, title, meta, foot);
  box.removeAttribute('aria-busy');
}

function place() {
  if (!pop || pop.sheet) return;
  const { box, chip } = pop,
    at = chip.getClientRects()[0] || chip.getBoundingClientRect(),
    gap = 8,
    edge = 12;
  box.style.left = box.style.top = '0px';
  const zero = box.getBoundingClientRect(); // a transformed ancestor shifts what "fixed" means
  const below = innerHeight - at.bottom - gap - edge,
    above = at.top - gap - edge;
  const under = below >= Math.min(zero.height, 320) || below >= above;
  box.style.maxHeight = Math.max(160, under ? below : above) + 'px';
  const h = Math.min(zero.height, Math.max(160, under ? below : above));
  const left = Math.max(edge, Math.min(at.left - 40, innerWidth - zero.width - edge));
  box.style.left = left - zero.left + 'px';
  box.style.top = (under ? at.bottom + gap : at.top - gap - h) - zero.top + 'px';
}

function open(chip, pinned) {
  clearTimeout(hideTimer);
  if (pop && pop.chip === chip) {
    if (pinned) pin();
    return;
  }
  close(false);
  const sheet = narrow.matches;
  const box = make('div', 'ds-pop' + (sheet ? ' ds-pop-sheet' : ''));
  box.id = 'ds-pop';
  box.tabIndex = -1;
  box.setAttribute('role', 'dialog');
  box.setAttribute('aria-label', t('Quote from source {n}', { n: chip.textContent.trim() }));
  box.setAttribute('aria-busy', 'true');
  const head = make('div', 'ds-pop-head');
  const shut = make('button', 'ds-pop-close');
  shut.type = 'button';
  shut.setAttribute('aria-label', t('Close the quote'));
  shut.append(icon('close', 16));
  shut.addEventListener('click', () => close(true));
  head.append(make('span', 'ds-pop-why', t('Fetching the quote')), shut);
  box.append(head, make('div', 'ds-pop-body'));
  // inside a dialog the page behind takes no clicks: stay with it
  const home = chip.closest('[role="dialog"]:not(.ds-pop)') || document.body;
  const veil = sheet ? make('div', 'ds-pop-veil') : null;
  if (veil) {
    veil.addEventListener('click', () => close(true));
    home.append(veil);
  }
  home.append(box);
  pop = { chip, box, veil, pinned: false, sheet };
  chip.classList.add('ds-chip-open');
  chip.setAttribute('aria-expanded', 'true');
  chip.setAttribute('aria-describedby', 'ds-pop');
  box.addEventListener('pointerenter', () => clearTimeout(hideTimer));
  box.addEventListener('pointerleave', soonClosed);
  place();
  quoteOf(chip).then(
    (q) => {
      if (pop && pop.box === box) {
        fill(box, chip, q);
        place();
      }
    },
    (e) => {
      if (!pop || pop.box !== box) return;
      head.firstChild.textContent =
        e.message === 'gone' ? t('This quote is no longer on the server.') : t('The quote could not be fetched.');
      const foot = make('div', 'ds-pop-foot');
      foot.append(link('ds-btn ds-plain', chip.href, t('Open its page'), 'out'));
      box.querySelector('.ds-pop-body').replaceChildren(foot);
      box.removeAttribute('aria-busy');
      place();
    },
  );
  if (pinned || sheet) pin();
}
function pin() {
  pop.pinned = true;
  pop.box.classList.add('ds-pop-pinned');
  if (pop.sheet) pop.box.setAttribute('aria-modal', 'true');
  pop.box.focus({ preventScroll: true });
}
function close(giveBack) {
  clearTimeout(showTimer);
  clearTimeout(hideTimer);
  if (!pop) return;
  const { chip, box, veil } = pop;
  const inside = box.contains(document.activeElement);
  pop = null;
  box.remove();
  veil?.remove();
  chip.classList.remove('ds-chip-open');
  chip.setAttribute('aria-expanded', 'false');
  chip.removeAttribute('aria-describedby');
  if (giveBack || inside) {
    quiet = true;
    chip.focus({ preventScroll: true });
    quiet = false;
  }
}
let quiet = false; // focus given back by us must not open again
function soonClosed() {
  if (!pop || pop.pinned) return;
  clearTimeout(hideTimer);
  hideTimer = setTimeout(() => {
    if (pop && !pop.pinned) close(false);
  }, 220);
}

document.addEventListener('pointerover', (e) => {
  if (e.pointerType !== 'mouse' || narrow.matches) return;
  const chip = chipOf(e);
  if (!chip) return;
  clearTimeout(hideTimer);
  clearTimeout(showTimer);
  if (pop?.pinned) return;
  showTimer = setTimeout(() => open(chip, false), pop ? 60 : 140);
});
document.addEventListener('pointerout', (e) => {
  if (e.pointerType !== 'mouse' || !chipOf(e)) return;
  clearTimeout(showTimer);
  soonClosed();
});
document.addEventListener('focusin', (e) => {
  const chip = chipOf(e);
  if (chip && !quiet && !narrow.matches && chip.matches(':focus-visible')) open(chip, false);
  else if (pop && !pop.pinned && !chip && !pop.box.contains(e.target)) close(false);
});
document.addEventListener('focusout', (e) => {
  if (chipOf(e) && !(e.relatedTarget && pop?.box.contains(e.relatedTarget))) soonClosed();
});
document.addEventListener(
  'click',
  (e) => {
    const plain = e.button === 0 && !e.ctrlKey && !e.metaKey && !e.shiftKey && !e.altKey;
    const chip = chipOf(e);
    if (chip) {
      if (!plain) return; // the page itself, in a tab of its own
      e.preventDefault();
      e.stopPropagation();
      clearTimeout(showTimer);
      if (pop && pop.chip === chip && pop.pinned) close(true);
      else open(chip, true);
      return;
    }
    if (pop && !pop.box.contains(e.target)) close(false);
    const inner = plain && e.target instanceof Element ? e.target.closest('a[href^="#"]') : null;
    if (inner && inner.getAttribute('href').length > 1) goTo(e, inner);
  },
  true,
);
document.addEventListener(
  'keydown',
  (e) => {
    if (!pop) return;
    if (e.key === 'Escape') {
      e.preventDefault();
      e.stopImmediatePropagation();
      close(pop.pinned || pop.chip === document.activeElement);
      return;
    }
    if (e.key === 'Tab' && pop.sheet) {
      // a sheet holds the focus
      const stops = [...pop.box.querySelectorAll('a[href],button')];
      const last = stops[stops.length - 1],
        here = document.activeElement;
      if (e.shiftKey && (here === stops[0] || here === pop.box)) {
        e.preventDefault();
        last.focus();
      } else if (!e.shiftKey && here === last) {
        e.preventDefault();
        stops[0].focus();
      }
    }
  },
  true,
);
addEventListener('resize', () => (pop && pop.sheet !== narrow.matches ? close(false) : place()));
document.addEventListener(
  'scroll',
  (e) => {
    if (!pop || pop.sheet || (e.target instanceof Node && pop.box.contains(e.target))) return;
    const r = pop.chip.getBoundingClientRect();
    if (r.bottom < 40 || r.top > innerHeight - 40) close(false);
    else place();
  },
  { capture: true, passive: true },
);

// ------------------------------------------------------------------ places on the same page
function goTo(e, a) {
  let id;
  try {
    id = decodeURIComponent(a.getAttribute('href').slice(1));
  } catch {
    return;
  }
  const near = a.closest('.ds-report, .message-content');
  const target =
    near?.querySelector('#' + CSS.escape(id)) ||
    document.getElementById(id) ||
    document.getElementById('user-content-' + id);
  if (!target) return;
  e.preventDefault();
  e.stopPropagation();
  target.scrollIntoView({ behavior: calm.matches ? 'auto' : 'smooth', block: 'start' });
  if (!target.hasAttribute('tabindex')) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

// ------------------------------------------------------------------ how the server is set up, on the first page
const about = () =>
  fetch(`${rootPath}/research/about`, { credentials: 'include', cache: 'no-store' }).then((r) =>
    r.ok ? r.json() : Promise.reject(new Error(r.status)),
  );
function showSetup(box, a) {
  const parts = [];
  if (a.offline && a.lines && a.lines[0]) {
    const note = make('p', 'ds-setup-note');
    const [first, ...rest] = t(a.lines[0]).split('. ');
    note.append(icon('info', 16));
    const said = make('span');
    said.append(
      make('b', '', first + '.'),
      ` ${rest.join('. ')} ${t('To change that, add a model key in')} `,
      make('code', '', '.env'),
      '.',
    );
    note.append(said);
    parts.push(note);
  }
  const cells = make('dl', 'ds-setup-cells');
  for (const one of a.cells || []) {
    const cell = make('div');
    cell.append(make('dt', '', t(one.name)), make('dd', 'ds-setup-value', t(one.value)));
    if (one.count) cell.append(make('dd', '', plural(one.count, 'document')));
    if (one.note) cell.append(make('dd', '', t(one.note)));
    cells.append(cell);
  }
  parts.push(cells);
  box.replaceChildren(...parts);
  box.title = (a.lines || []).slice(1).join(' ');
  box.style.visibility = '';
}

// The report's letters are there before it is: swapped in later they would push its lines about.
addEventListener('load', () =>
  setTimeout(() => ['', 'bold ', 'italic '].forEach((cut) => document.fonts.load(`${cut}17px 'Charis SIL'`)), 1500),
);

// ------------------------------------------------------------------ an old chat opens at the last question
let opened = '';
function atLastQuestion() {
  const thread = /\/thread\/([\w-]+)/.exec(location.pathname)?.[1] || '';
  if (!thread || thread === opened) return;
  const asked = document.querySelectorAll('[data-step-type="user_message"]');
  if (!asked.length) return;
  const first = !opened && !sawWelcome;
  opened = thread;
  if (!first && asked.length === 1) return; // a chat that has just begun
  const last = asked[asked.length - 1];
  const frame = [80, 400, 1200].map((ms) =>
    setTimeout(() => last.isConnected && last.scrollIntoView({ block: 'start' }), ms),
  );
  const leave = () => frame.forEach(clearTimeout); // whoever scrolls by hand is left alone
  for (const kind of ['wheel', 'touchstart', 'keydown', 'pointerdown'])
    addEventListener(kind, leave, { once: true, passive: true, capture: true });
}
let sawWelcome = false;

// ------------------------------------------------------------------ nothing moves that the reader did not move
// A question that is sent is put at the top of the window; if a card above it folds meanwhile, it slides out of view.
let askedCount = 0;
function stayAtQuestion() {
  const asked = document.querySelectorAll('[data-step-type="user_message"]');
  const sent = asked.length === askedCount + 1 && askedCount > 0;
  askedCount = asked.length;
  if (!sent) return;
  held = null; // whoever asks has left the line that a closing panel would keep
  const last = asked[asked.length - 1],
    frame = last.closest('.overflow-y-auto');
  const back = () => {
    // A report that has come meanwhile is what was waited for (see `showReport`).
    const come = [...document.querySelectorAll('.ds-report[data-report="here"]')].at(-1);
    if (!last.isConnected || !frame || come?.compareDocumentPosition(last) & Node.DOCUMENT_POSITION_PRECEDING) return;
    const at = last.getBoundingClientRect().top,
      window_ = frame.getBoundingClientRect();
    // In the lower half there is no room for its answer, which may be late.
    if (at < window_.top - 8 || at > (window_.top + window_.bottom) / 2) last.scrollIntoView({ block: 'start' });
  };
  const waits = [500, 900, 1500, 3000].map((ms) => setTimeout(back, ms));
  const leave = () => waits.forEach(clearTimeout);
  for (const kind of ['wheel', 'touchstart', 'pointerdown'])
    addEventListener(kind, leave, { once: true, passive: true, capture: true });
}
// A run that ends folds to one line; above the window's edge that would pull everything below it up.
const bottoms = new WeakMap();
const frameOf = (step) => step.closest('.overflow-y-auto');
const note = (step) => {
  const frame = frameOf(step);
  if (frame) bottoms.set(step, step.getBoundingClientRect().bottom - frame.getBoundingClientRect().top);
};
const folding = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    const frame = frameOf(target),
      was = bottoms.get(target);
    if (!frame) continue;
    const now = target.getBoundingClientRect().bottom - frame.getBoundingClientRect().top;
    if (was !== undefined && was < 120 && now < was - 80) frame.scrollTop -= was - now;
    note(target);
  }
});
let noting = 0;
addEventListener(
  'scroll',
  () => {
    cancelAnimationFrame(noting);
    noting = requestAnimationFrame(() => document.querySelectorAll('.step:has([data-job])').forEach(note));
  },
  { passive: true, capture: true },
);
// A panel that opens makes the page narrower and what stands above longer: the line that was at the top stays there.
let held = null;
const LINES =
  '.ds-article > *, .ds-report > header, .ds-run, .ds-contract > header, ' +
  '[data-step-type] .message-content:not(:has(.ds-report, .ds-run, .ds-contract))';
const lines = (frame) => [...frame.querySelectorAll(LINES)];
function remember(frame, settled) {
  // The browser scrolls by itself when the width changes, before anybody is told that it has.
  if (!settled && held && held.frame === frame && held.width !== frame.clientWidth) return;
  const edge = frame.getBoundingClientRect().top + 12;
  const parts = lines(frame),
    nth = parts.findIndex((el) => el.getBoundingClientRect().bottom > edge);
  held = nth < 0 ? null : { frame, nth, at: parts[nth].getBoundingClientRect().top, width: frame.clientWidth };
}
function keepPlace() {
  if (!held || held.frame.clientWidth === held.width) return;
  const line = lines(held.frame)[held.nth]; // by its number: a card may have been drawn anew
  const moved = line ? line.getBoundingClientRect().top - held.at : 0;
  if (Math.abs(moved) > 1) held.frame.scrollTop += moved;
}
const widths = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    if (!held || held.frame !== target || target.clientWidth === held.width) continue;
    keepPlace();
    clearTimeout(widths.settled);
    widths.settled = setTimeout(() => {
      keepPlace();
      remember(target, true);
    }, 350);
  }
});
let seen = 0;
addEventListener(
  'scroll',
  (e) => {
    const frame = e.target;
    if (frame instanceof Element && frame.matches('.overflow-y-auto') && frame.querySelector('.step')) {
      cancelAnimationFrame(seen);
      seen = requestAnimationFrame(() => remember(frame));
    }
  },
  { passive: true, capture: true },
);
const frames = new WeakSet();
function watchRuns() {
  const frame = document.querySelector('.step')?.closest('.overflow-y-auto');
  if (frame && !frames.has(frame)) {
    frames.add(frame);
    widths.observe(frame);
  }
  for (const step of document.querySelectorAll('.step:has([data-job])'))
    if (!bottoms.has(step)) {
      note(step);
      folding.observe(step);
    }
}

// ------------------------------------------------------------------ what React draws and we finish
function dress() {
  for (const chip of document.querySelectorAll(`${CHIP}:not([aria-haspopup])`)) {
    const v = chip.dataset.verdict ? ', ' + verdict(chip.dataset.verdict).word.toLowerCase() : '';
    chip.setAttribute('aria-haspopup', 'dialog');
    if (/^\[?\d+\]?$/.test(chip.textContent.trim())) {
      if (!chip.hasAttribute('aria-label'))
        chip.setAttribute('aria-label', t('Source {n}', { n: chip.textContent.replace(/\D/g, '') }) + v);
    } else chip.classList.add('ds-chip-words');
  }
  const welcome = document.getElementById('welcome-screen');
  if (welcome) {
    sawWelcome = true;
    opened = '';
  }
  atLastQuestion();
  stayAtQuestion();
  watchRuns();
  if (welcome && !welcome.querySelector('.ds-welcome')) {
    const box = make('div', 'ds-welcome');
    box.append(
      make('h1', '', t('What do you need to know?')),
      make(
        'p',
        '',
        [
          t('Ask something broad.'),
          t('We narrow it together, you see the plan and its price, and nothing starts until you say so.'),
        ].join(' '),
      ),
    );
    const composer = welcome.querySelector('#message-composer');
    welcome.insertBefore(box, composer && composer.parentElement === welcome ? composer : welcome.children[1] || null);
    const setup = make('section', 'ds-setup ds');
    setup.setAttribute('aria-label', t('How this server is set up'));
    setup.style.visibility = 'hidden';
    welcome.append(setup);
    about().then(
      (a) => showSetup(setup, a),
      () => setup.remove(),
    );
  }
  nameThings();
  hint();
  waiting();
  // the panel's sheet on phones names its title by an id of its own
  const sheet = document.getElementById('side-view-title')?.closest('[role="dialog"]');
  if (sheet && sheet.getAttribute('aria-labelledby') !== 'side-view-title')
    sheet.setAttribute('aria-labelledby', 'side-view-title');
  if (pop && !pop.chip.isConnected) close(false);
}
// Chainlit's icon buttons have no names, and some of its parts say what they are in the wrong words.
const NAMES = {
  '#sidebar-trigger-button': 'Show or hide the history',
  '#search-chats-button': 'Search the history',
  '#new-chat-button': 'New chat',
  '#chat-submit': 'Send',
  '#upload-button': 'Attach files',
  '#command-button': 'Commands',
  '#chat-settings-open-modal': 'Settings',
  '#stop-button': 'Stop answering',
  '#theme-toggle': 'Light or dark',
  '#user-nav-button': 'User',
};
const SHAPES = {
  'lucide-copy': 'Copy',
  'lucide-check': 'Copied',
  'lucide-arrow-down': 'To the newest message',
  'lucide-arrow-left': 'Close the panel',
  'lucide-x': 'Close',
};
function nameThings() {
  for (const [where, name] of Object.entries(NAMES)) {
    for (const el of document.querySelectorAll(`${where}:not([aria-label])`)) el.setAttribute('aria-label', t(name));
  }
  for (const [shape, name] of Object.entries(SHAPES)) {
    for (const svg of document.querySelectorAll(`button:not([aria-label]) > svg.${shape}`))
      if (!svg.parentElement.textContent.trim()) svg.parentElement.setAttribute('aria-label', t(name));
  }
  for (const el of document.querySelectorAll('#upload-button[role]')) el.removeAttribute('role');
  for (const el of document.querySelectorAll('#thread-options:not([role])')) {
    el.setAttribute('role', 'button');
    el.setAttribute('aria-label', t('Options of this chat'));
  }
  const outer = document.getElementById('thread-history')?.parentElement;
  if (outer?.tagName === 'UL') outer.setAttribute('role', 'presentation');
  for (const bar of document.querySelectorAll('[role="separator"][aria-controls]'))
    if (!document.getElementById(bar.getAttribute('aria-controls'))) bar.removeAttribute('aria-controls');
}

// What can be said now stands in the empty message box.
const HINTS = {
  run: ['Ask how it is going, add guidance, or say: finish, stop, drop part 2', 'Ask, guide, finish or stop'],
  draft: ['Ask for a change, or type: Authorized to execute', 'Ask for a change'],
  report: ['Ask about this report, or something new', 'Ask about this report'],
};
let plainHint = '';
function hint() {
  const box = document.getElementById('chat-input');
  if (!box || box.tagName !== 'TEXTAREA') return;
  const now = document.querySelector(
    '.ds-run[data-job="running"], .ds-run[data-job="queued"], .ds-run[data-job="blocked"]',
  )
    ? 'run'
    : document.querySelector('.ds-contract[data-contract="draft"]')
      ? 'draft'
      : document.querySelector('.ds-report')
        ? 'report'
        : '';
  if (!box.dataset.dsHint) plainHint = box.placeholder || plainHint;
  const said = now ? t(HINTS[now][narrow.matches ? 1 : 0]) : narrow.matches ? t('Ask a question') : plainHint;
  if (box.placeholder === said) return;
  box.placeholder = said;
  box.dataset.dsHint = now || 'plain';
}

// The first Tab stop leads to the newest draft, run or report: the history bar alone has dozens.
const skip = make('button', 'ds-skip', t('To the newest draft, run or report'));
skip.type = 'button';
skip.addEventListener('click', () => {
  const all = document.querySelectorAll('.ds-contract, .ds-run, .ds-report');
  const target = all[all.length - 1] ?? document.getElementById('chat-input');
  if (!target) return;
  if (!target.matches('textarea') && !target.hasAttribute('tabindex')) target.tabIndex = -1;
  target.scrollIntoView({ block: 'start' });
  target.focus({ preventScroll: true });
});
document.body ? document.body.prepend(skip) : addEventListener('DOMContentLoaded', () => document.body.prepend(skip));

// Every wait over a second says what is happening, and Enter that cannot send yet says why. Chainlit shows a dot only.
const WAITS = {
  '': 'Reading what you sent and looking at what can be searched.',
  draft: 'Reading your message. The draft stays as it is meanwhile.',
  report: 'Looking into the report above.',
  run: 'Reading your message. The run goes on meanwhile.',
};
const WAIT_MS = 1000;
const LONG_MS = 5000; // from here on it is said for how long
let waitingSince = 0;
let waitLine = null;
function waiting(said) {
  const busy = document.getElementById('stop-button');
  if (!busy && !said) {
    if (waitLine?.dataset.unsent && document.getElementById('chat-input')?.value.trim()) return;
    waitingSince = 0;
    waitLine?.remove();
    waitLine = null;
    return;
  }
  waitingSince ||= Date.now();
  if (!said && Date.now() - waitingSince < WAIT_MS) {
    setTimeout(soon, WAIT_MS);
    return;
  }
  const composer = document.getElementById('message-composer');
  if (!waitLine?.isConnected && composer) {
    waitLine = make('p', 'ds-wait');
    waitLine.setAttribute('role', 'status');
    waitLine.append('', make('span', 'ds-waited'));
    waitLine.lastChild.setAttribute('aria-hidden', 'true'); // a status that counts would be read out every second
    composer.parentElement.insertBefore(waitLine, composer);
  }
  const now = document.getElementById('chat-input')?.dataset.dsHint ?? '';
  const text = said || waitLine?.dataset.said || t(WAITS[now] || WAITS['']);
  if (said && waitLine) waitLine.dataset.said = said;
  if (waitLine && waitLine.firstChild.data !== text) waitLine.firstChild.data = text;
  const waited = Date.now() - waitingSince;
  if (!waitLine || !busy || waited < LONG_MS) return;
  waitLine.lastChild.textContent = clock(waited / 1000);
  setTimeout(soon, 1000);
}
document.addEventListener(
  'keydown',
  (e) => {
    if (e.key !== 'Enter' || e.shiftKey || e.target.id !== 'chat-input' || !e.target.value.trim()) return;
    if (document.getElementById('stop-button')) {
      waiting(t('One moment: I am still answering. Your text stays here; press Enter again when I am done.'));
      return;
    }
    const text = e.target.value;
    setTimeout(() => {
      if (document.getElementById('chat-input')?.value !== text) return;
      waiting(
        t('Not sent yet: the page waits for the server, or for a file. Your text stays here; press Enter again.'),
      );
      if (waitLine) waitLine.dataset.unsent = 'yes';
    }, 600);
  },
  true,
);

let due = 0;
const soon = () => {
  if (!due)
    due = setTimeout(() => {
      due = 0;
      dress();
    }, 120);
};
// A button has its name before it is painted; the rest of the dressing may wait a moment.
const brings = (node) => node.nodeType === 1 && (node.matches('button, svg') || node.querySelector('button') !== null);
new MutationObserver((changes) => {
  if (changes.some((change) => [...change.addedNodes].some(brings))) nameThings();
  soon();
}).observe(document.documentElement, { childList: true, subtree: true });
soon();
