// The report: grade and what is missing, figures, exports, the text with its citation chips, and a way to the evidence.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useSetRecoilState } from 'recoil';
import { sideViewState } from '@chainlit/react-client';
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuTrigger,
} from '@/components/ui/dropdown-menu';

const parts = (globalThis.dossierParts = globalThis.dossierParts || {});

parts.ReportView =
  parts.ReportView ||
  (function () {
    const { Icon, icon, clock, money, count, plural, speak, t, verdict } = globalThis.dossier;
    const GRADES = {
      complete: ['Complete report', 'good', 'done'],
      partial: ['Partial report', 'caution', 'partial'],
      nothing_found: ['Nothing found', 'quiet', 'queued'],
    };
    const FILES = ['pdf', 'docx', 'html', 'md', 'json', 'bib', 'ris', 'csl'];
    const NAMES = {
      md: 'Markdown',
      html: 'Web page',
      json: 'JSON, all data',
      pdf: 'PDF',
      docx: 'Word',
      bib: 'BibTeX',
      ris: 'RIS',
      csl: 'CSL-JSON',
      txt: 'Plain text',
      csv: 'Table of sources',
      epub: 'EPUB',
    };

    // ---------------------------------------------------------------- the text, taken apart and put together safely
    const GONE =
      'script,style,iframe,frame,object,embed,link,meta,base,form,button,textarea,select,svg,template,' +
      'noscript,video,audio,portal,annotation-xml,maction';
    function clean(html, prefix) {
      const doc = new DOMParser().parseFromString(String(html || ''), 'text/html'); // inert: nothing runs or loads
      for (const el of doc.body.querySelectorAll(GONE)) el.remove();
      for (const el of doc.body.querySelectorAll('input')) {
        if (el.type !== 'checkbox') el.remove();
        else el.disabled = true;
      }
      for (const el of doc.body.querySelectorAll('*')) {
        for (const { name, value } of [...el.attributes]) {
          const key = name.toLowerCase();
          if (
            key.startsWith('on') ||
            ['srcset', 'ping', 'action', 'formaction', 'xlink:href', 'background', 'srcdoc'].includes(key)
          )
            el.removeAttribute(name);
          else if (key === 'style') {
            const align = /text-align:\s*(left|right|center)/.exec(value);
            el.removeAttribute(name);
            if (align) el.style.textAlign = align[1];
          } else if (key === 'href' || key === 'src') {
            let to;
            try {
              to = new URL(value, location.href);
            } catch (e) {
              el.removeAttribute(name);
              continue;
            }
            if (!['http:', 'https:', 'mailto:'].includes(to.protocol)) el.removeAttribute(name);
            else if (key === 'src' && to.origin !== location.origin) el.removeAttribute(name);
          } else if (key === 'id')
            el.id = prefix + value; // two reports on a page must not share places
          else if (key === 'aria-labelledby' || key === 'aria-describedby')
            el.setAttribute(
              name,
              value
                .split(/\s+/)
                .map((v) => prefix + v)
                .join(' '),
            );
        }
      }
      for (const a of doc.body.querySelectorAll('a[href]')) {
        const href = a.getAttribute('href');
        if (href.startsWith('#')) {
          a.setAttribute('href', '#' + prefix + href.slice(1));
          a.removeAttribute('target');
        } else {
          a.target = '_blank';
          a.rel = 'noopener noreferrer';
        }
      }
      for (const img of doc.body.querySelectorAll('img')) {
        if (!img.hasAttribute('src')) img.remove();
        else if (!img.hasAttribute('alt')) img.alt = '';
      }
      let n = 0;
      for (const table of doc.body.querySelectorAll('table')) {
        const frame = doc.createElement('div');
        frame.className = 'ds-frame';
        frame.tabIndex = 0;
        frame.setAttribute('role', 'region');
        frame.setAttribute('aria-label', t('Table {n}', { n: ++n }));
        for (const th of table.querySelectorAll('thead th')) if (!th.scope) th.scope = 'col';
        table.replaceWith(frame);
        frame.append(table);
      }
      // the number alone; and what was found about its sentence, for whoever hears the chip instead of seeing it
      for (const a of doc.body.querySelectorAll('a[href*="/quote/"]')) {
        const number = /^\[(\d+)\]$/.exec(a.textContent.trim());
        if (!number) {
          a.classList.add('ds-chip-words');
          continue;
        } // quoted words in the list of references
        a.textContent = number[1];
        let carried = a.previousElementSibling;
        while (carried && carried.matches('a[href*="/quote/"]')) carried = carried.previousElementSibling;
        if (carried && carried.dataset.verdict) a.dataset.verdict = carried.dataset.verdict;
      }
      // a chip stays with the word before it, and with its neighbours
      const CHIP = 'a[href*="/quote/"]:not(.ds-chip-words)';
      for (const a of doc.body.querySelectorAll(CHIP)) {
        if (a.closest('.ds-nw')) continue;
        const run = [a];
        for (let b = a.nextSibling; b && run.length < 4 && b.nodeType === 1 && b.matches(CHIP); b = b.nextSibling)
          run.push(b);
        const keep = doc.createElement('span');
        keep.className = 'ds-nw';
        const before = a.previousSibling;
        a.before(keep);
        // a sentence in a span of its own: its last word stays outside the mark, beside its chip
        const tail = before && before.nodeType === 1 && before.matches('[data-verdict]') ? before.lastChild : null;
        if (tail && tail.nodeType === 3) {
          const word = /\S{1,24}$/.exec(tail.data);
          if (word && word[0].length < tail.data.length && word[0].length < 24) {
            tail.data = tail.data.slice(0, word.index);
            const end = doc.createElement('span');
            end.dataset.end = before.dataset.verdict;
            end.textContent = word[0];
            keep.append(end);
          }
        } else if (before && before.nodeType === 3) {
          const word = /\S{1,24}$/.exec(before.data);
          if (word && word[0].length < 24) {
            before.data = before.data.slice(0, word.index);
            keep.append(word[0]);
          }
        }
        keep.append(...run);
      }
      // a sentence that is not fully carried says so in a word, not only by its underline
      for (const el of doc.body.querySelectorAll('[data-verdict]:not(a)')) {
        const v = verdict(el.dataset.verdict);
        if (v.tone !== 'caution' && v.tone !== 'bad') continue;
        if (el.nextElementSibling && el.nextElementSibling.classList.contains('ds-mk')) continue;
        let last = el;
        while (
          last.nextElementSibling &&
          last.nextElementSibling.matches('.ds-nw') &&
          !(last.nextSibling.nodeType === 3 && last.nextSibling.data.trim())
        )
          last = last.nextElementSibling;
        const mark = doc.createElement('span');
        mark.className = `ds-mk ds-${v.tone}`;
        mark.append(doc.importNode(icon(v.shape, 13), true), doc.createTextNode(v.word.toLowerCase()));
        last.after(mark);
      }
      const out = document.createDocumentFragment();
      out.append(...[...doc.body.childNodes].map((node) => document.importNode(node, true)));
      return out;
    }

    function useReport(id, url) {
      const [state, setState] = useState({ at: 'first' });
      const load = useCallback(async () => {
        setState({ at: 'first' });
        for (let n = 0; n < 4; n += 1) {
          try {
            const r = await fetch(url(`/research/jobs/${encodeURIComponent(id)}/report.fragment`), {
              credentials: 'include',
            });
            if (r.status === 404 || r.status === 410) {
              setState({ at: 'gone' });
              return;
            }
            if (!r.ok) throw new Error(r.status);
            setState({ at: 'here', report: await r.json() });
            return;
          } catch (e) {
            if (n < 3) await new Promise((done) => setTimeout(done, 1000 * (n + 1)));
          }
        }
        setState({ at: 'failed' });
      }, [id]);
      useEffect(() => {
        load();
      }, [load]);
      return [state, load];
    }

    function Contents({ headings, prefix, article }) {
      const [at, setAt] = useState('');
      useEffect(() => {
        if (!article.current || !globalThis.IntersectionObserver) return undefined;
        const seen = new Map();
        const watch = new IntersectionObserver(
          (all) => {
            for (const e of all) seen.set(e.target.id, e.isIntersecting);
            const first = headings.find((h) => seen.get(prefix + h.id));
            if (first) setAt(first.id);
          },
          { rootMargin: '0px 0px -65% 0px' },
        );
        for (const h of headings) {
          const el = article.current.querySelector('#' + CSS.escape(prefix + h.id));
          if (el) watch.observe(el);
        }
        return () => watch.disconnect();
      }, [headings, prefix]);
      const now = at || headings[0].id;
      return (
        <nav className="ds-toc" aria-label={t('Contents')}>
          {headings.map((h) => (
            <a
              key={h.id}
              href={'#' + prefix + h.id}
              data-level={h.level}
              aria-current={h.id === now ? 'location' : undefined}
            >
              {h.text}
            </a>
          ))}
        </nav>
      );
    }

    function Copy({ address }) {
      const [said, setSaid] = useState('');
      const timer = useRef(0);
      useEffect(() => () => clearTimeout(timer.current), []);
      const copy = async () => {
        let word = t('Copied');
        try {
          const r = await fetch(address, { credentials: 'include' });
          if (!r.ok) throw new Error(r.status);
          const text = await r.text();
          if (navigator.clipboard && globalThis.isSecureContext) await navigator.clipboard.writeText(text);
          else {
            const area = document.createElement('textarea');
            area.value = text;
            area.style.cssText = 'position:fixed;opacity:0';
            document.body.append(area);
            area.select();
            const ok = document.execCommand('copy');
            area.remove();
            if (!ok) throw new Error('copy');
          }
        } catch (e) {
          word = t('Could not copy');
        }
        setSaid(word);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setSaid(''), 2500);
      };
      return (
        <button type="button" className="ds-btn" onClick={copy} title={t('Copy as Markdown')}>
          {Icon(React, said === t('Copied') ? 'tick' : 'copy', 14)}
          <span aria-live="polite">{said || t('Copy')}</span>
        </button>
      );
    }

    return function ReportView({ p, apiClient }) {
      speak(p.lang);
      const id = p.job_id;
      const url = useCallback(
        (path) => (apiClient && apiClient.buildEndpoint ? apiClient.buildEndpoint(path) : path),
        [apiClient],
      );
      const [state, again] = useReport(id, url);
      const setSide = useSetRecoilState(sideViewState);
      const article = useRef(null);
      const report = state.report;
      const prefix =
        'r' +
        String(id)
          .replace(/[^A-Za-z0-9]/g, '')
          .slice(0, 12) +
        '-';
      useLayoutEffect(() => {
        if (report && article.current) article.current.replaceChildren(clean(report.html, prefix));
      }, [report, prefix]);
      const file = (ext) => url(`/research/jobs/${encodeURIComponent(id)}/report.${ext}`);
      // The press is painted before the panel is drawn, which takes longer than a frame.
      const evidence = () => requestAnimationFrame(() => setTimeout(showPanel));
      const showPanel = () =>
        setSide({
          title: t('Evidence'),
          key: 'evidence-' + id,
          elements: [
            {
              id: 'evidence-' + id,
              type: 'custom',
              name: 'EvidencePanel',
              display: 'side',
              forId: '',
              props: { job_id: id },
            },
          ],
        });

      const grade = (report && report.grade) || p.grade || '';
      const [word, tone, shape] = GRADES[grade] || [grade ? grade.replace(/_/g, ' ') : 'Report', 'quiet', 'info'];
      const reasons = (report && report.grade_reasons) || [];
      const c = (report && report.counts) || {};
      const figures = !report
        ? []
        : [
            report.grade === 'nothing_found'
              ? ''
              : c.judged
                ? t('{n} of {statements} verified', { n: c.verified ?? 0, statements: plural(c.judged, 'statement') })
                : c.sentences
                  ? t('{n} of {statements} cited', { n: c.cited ?? 0, statements: plural(c.sentences, 'statement') })
                  : '',
            c.sources !== undefined ? plural(c.sources, 'source') : '',
            report.seconds ? clock(report.seconds) : '',
            report.cost_usd === 0 ? t('free') : report.cost_usd ? money(report.cost_usd) : t('cost unknown'),
            report.tokens ? t('{n} tokens', { n: count(report.tokens) }) : '',
          ].filter(Boolean);
      const more = (p.exports || [])
        .map((x) => (typeof x === 'string' ? { format: x } : x))
        .filter((x) => !FILES.includes(x.format));
      const headings = ((report && report.headings) || []).filter((h) => h.level >= 2 && h.level <= 3);
      const lang = (report && report.language) || undefined;

      // Nothing of the head stands before all of it does: what would come between would push it about.
      if (state.at === 'first')
        return (
          <article className="ds ds-card ds-report" aria-label={p.title || t('Report')} data-report="first">
            <div className="ds-skel" role="status">
              {t('Opening the report.')}
            </div>
          </article>
        );
      return (
        <article
          className="ds ds-card ds-report"
          aria-label={(report && report.title) || p.title || t('Report')}
          data-report={state.at}
        >
          <header>
            <div className="ds-row" style={{ gap: 10 }}>
              <span className={`ds-tag ds-grade ds-${tone}`}>
                {Icon(React, shape, 15)}
                {t(word)}
              </span>
              <span className="ds-figures">{figures.join(' · ')}</span>
              <span className="ds-grow" />
              <span className="ds-row ds-controls-in" style={{ gap: 6 }}>
                <Copy address={file('md')} />
                <DropdownMenu modal={false}>
                  <DropdownMenuTrigger asChild>
                    <button type="button" className="ds-btn">
                      {t('Export')}
                      {Icon(React, 'down', 14)}
                    </button>
                  </DropdownMenuTrigger>
                  <DropdownMenuContent align="end" className="ds-menu">
                    {FILES.map((ext) => (
                      <DropdownMenuItem key={ext} asChild>
                        <a href={file(ext)} download={`report.${ext}`}>
                          {t(NAMES[ext])}
                        </a>
                      </DropdownMenuItem>
                    ))}
                    {more.map((x) =>
                      x.available === false ? (
                        <DropdownMenuItem key={x.format} disabled title={x.reason}>
                          {NAMES[x.format] || x.format.toUpperCase()}
                          {x.reason ? `: ${x.reason}` : ' (not available here)'}
                        </DropdownMenuItem>
                      ) : (
                        <DropdownMenuItem key={x.format} asChild>
                          <a href={file(x.format)} download={`report.${x.format}`}>
                            {x.label || NAMES[x.format] || x.format.toUpperCase()}
                          </a>
                        </DropdownMenuItem>
                      ),
                    )}
                  </DropdownMenuContent>
                </DropdownMenu>
                <button type="button" className="ds-btn" onClick={evidence}>
                  {Icon(React, 'panel', 14)}
                  {t('Evidence')}
                </button>
              </span>
            </div>
            {reasons.length ? (
              <ul className="ds-reasons" aria-label={t('Why this grade')}>
                {reasons.map((r, i) => (
                  <li key={i}>
                    <span dir="auto">{r}</span>
                  </li>
                ))}
              </ul>
            ) : null}
          </header>
          {state.at === 'here' ? (
            <div className={'ds-body' + (headings.length > 1 ? ' ds-has-toc' : '')}>
              <div
                className="ds-article"
                ref={article}
                lang={lang}
                dir={lang && /^(ar|fa|he|ur|yi|ps|sd|ug|dv)\b/i.test(lang) ? 'rtl' : 'auto'}
              />
              {headings.length > 1 ? <Contents headings={headings} prefix={prefix} article={article} /> : null}
            </div>
          ) : (
            <div className="ds-skel" role="status">
              {state.at === 'gone' ? (
                t('This report is no longer on the server. Its text is kept below.')
              ) : (
                <span>
                  {t('The report could not be fetched.')}{' '}
                  <button type="button" className="ds-link" onClick={again}>
                    {t('Try again')}
                  </button>
                </span>
              )}
            </div>
          )}
        </article>
      );
    };
  })();

const ReportView = parts.ReportView;
export default <ReportView p={props} apiClient={apiClient} />;
