// What the report rests on: sources with their quotes, claims with what speaks for and against, and how it was made.
import { useEffect, useId, useMemo, useRef, useState } from 'react';

const parts = (globalThis.dossierParts = globalThis.dossierParts || {});

parts.EvidencePanel =
  parts.EvidencePanel ||
  (function () {
    const { Icon, clock, money, count, plural, t, verdict, day, webAddress } = globalThis.dossier;
    const has = (v) => v !== null && v !== undefined && v !== '';
    const list = (v) => (Array.isArray(v) ? v : []);
    const said = (v) =>
      typeof v === 'string'
        ? v
        : v && typeof v === 'object'
          ? v.text || v.topic || v.reason || v.message || JSON.stringify(v)
          : String(v ?? '');
    // A document of the user's own: its name in its folder.
    const named = (url) => {
      const rest = String(url || '').replace(/^(?:library|upload):\/[^/]*\//, '');
      try {
        return decodeURIComponent(rest);
      } catch (e) {
        return rest;
      }
    };
    const timesCited = (n) => (n === 1 ? t('cited once') : n ? t('cited {n} times', { n }) : t('not cited'));

    function Sources({ doc, quoteAt }) {
      const [find, setFind] = useState('');
      const [byCited, setByCited] = useState(false);
      const [whole, setWhole] = useState(() => new Set());
      const cited = useMemo(() => {
        const n = {};
        for (const s of list(doc.sentences)) for (const c of new Set(list(s.citations))) n[c] = (n[c] || 0) + 1;
        return n;
      }, [doc]);
      const needle = find.trim().toLowerCase();
      let rows = list(doc.references);
      if (needle)
        rows = rows.filter((r) =>
          [r.title, r.author, r.site, r.url, ...list(r.quotes).map((q) => q.text)].some((t) =>
            String(t || '')
              .toLowerCase()
              .includes(needle),
          ),
        );
      if (byCited) rows = [...rows].sort((a, b) => (cited[b.n] || 0) - (cited[a.n] || 0) || a.n - b.n);
      const aside = list((doc.methodology || {}).sources_rejected).length;
      if (!list(doc.references).length)
        return (
          <p className="ds-dim" style={{ padding: '14px 0' }}>
            {t('No source is cited in this report.')}
          </p>
        );
      return (
        <>
          <div className="ds-bar">
            <input
              className="ds-find"
              type="search"
              placeholder={t('Filter')}
              aria-label={t('Filter sources')}
              value={find}
              onChange={(e) => setFind(e.target.value)}
            />
            <button type="button" className="ds-btn" aria-pressed={byCited} onClick={() => setByCited(!byCited)}>
              {t(byCited ? 'Most cited first' : 'In order of number')}
            </button>
            {aside ? (
              <span className="ds-small ds-dim" style={{ marginInlineStart: 'auto' }}>
                {t('{n} set aside', { n: aside })}
              </span>
            ) : null}
          </div>
          {needle ? (
            <p className="ds-sr" role="status">
              {t('{sources} found', { sources: plural(rows.length, 'source') })}
            </p>
          ) : null}
          {rows.map((r) => {
            const quotes = list(r.quotes),
              all = whole.has(r.n),
              address = webAddress(r.url);
            return (
              <section className="ds-src" key={r.n} aria-label={t('Source {n}', { n: r.n })}>
                <span className="ds-badge" aria-hidden="true">
                  {r.n}
                </span>
                <h3 dir="auto">
                  {address && r.url ? (
                    <a href={address} target="_blank" rel="noopener noreferrer">
                      {r.title || r.site || r.url}
                    </a>
                  ) : (
                    r.title || r.site || t('Untitled source')
                  )}
                </h3>
                <p className="ds-small ds-dim">
                  {[...new Set([r.author, r.site]), has(r.published) ? day(r.published) : t('no date given')]
                    .filter(has)
                    .join(' · ')}
                </p>
                <div className="ds-tags">
                  <span className="ds-tag">{timesCited(cited[r.n])}</span>
                  {has(r.accessed) ? <span className="ds-tag">{t('read {day}', { day: day(r.accessed) })}</span> : null}
                  {has(r.known_since) ? (
                    <span className="ds-tag">{t('known since {date}', { date: day(r.known_since) })}</span>
                  ) : null}
                  {r.kind === 'sample' ? (
                    <span className="ds-tag ds-caution">{t('Invented sample document')}</span>
                  ) : null}
                  {list(r.notes).map((note) => (
                    <span className="ds-tag" key={note} dir="auto">
                      {note}
                    </span>
                  ))}
                </div>
                {(all ? quotes : quotes.slice(0, 2)).map((q, i) => (
                  <p className="ds-qt" key={q.fact_id || i} dir="auto" lang={r.language || undefined}>
                    {has(q.fact_id) ? (
                      <a
                        className="ds-plain"
                        href={quoteAt(q.fact_id)}
                        target="_blank"
                        rel="noopener noreferrer"
                        title={t('Open this quote in its context')}
                      >
                        “{q.text}”
                      </a>
                    ) : (
                      `“${q.text}”`
                    )}
                    {has(q.page) ? <span className="ds-small ds-dim"> p. {q.page}</span> : null}
                  </p>
                ))}
                {quotes.length > 2 ? (
                  <button
                    type="button"
                    className="ds-link"
                    aria-expanded={all}
                    onClick={() =>
                      setWhole((old) => {
                        const s = new Set(old);
                        if (all) s.delete(r.n);
                        else s.add(r.n);
                        return s;
                      })
                    }
                  >
                    {all ? t('Fewer quotes') : t('All {n} quotes', { n: quotes.length })}
                  </button>
                ) : null}
              </section>
            );
          })}
          {needle && !rows.length ? <p className="ds-dim">{t('No source matches “{text}”.', { text: find })}</p> : null}
        </>
      );
    }

    const short = (text) => (text.length > 220 ? text.slice(0, 218).trimEnd() + '…' : text);
    function Claims({ doc, quoteAt }) {
      const claims = list(doc.claims);
      const by = (r) => [...new Set([r.author, r.site])].filter(has).join(', ');
      const facts = useMemo(() => {
        const m = {};
        for (const r of list(doc.references))
          for (const q of list(r.quotes))
            if (has(q.fact_id)) m[q.fact_id] = { text: q.text, n: r.n, site: by(r) || r.title };
        for (const r of list(doc.references))
          if (has(r.source_id)) m['s' + r.source_id] = { n: r.n, site: by(r) || r.title };
        return m;
      }, [doc]);
      if (!claims.length)
        return (
          <p className="ds-dim" style={{ padding: '14px 0' }}>
            {t('No claims were checked in this run.')}
          </p>
        );
      const tally = {};
      for (const c of claims) {
        const w = verdict(c.verdict).word.toLowerCase();
        tally[w] = (tally[w] || 0) + 1;
      }
      const Side = ({ name, rows }) => (
        <div>
          <h3>
            {name} ({rows.length})
          </h3>
          <ul>
            {rows.length ? (
              rows.map((e, i) => {
                const from = facts[e.fact_id] || facts['s' + e.source_id] || {};
                return (
                  <li key={i}>
                    <span dir="auto">“{short(e.quote)}”</span>{' '}
                    {has(from.n) && has(e.fact_id) ? (
                      <a
                        href={quoteAt(e.fact_id)}
                        target="_blank"
                        rel="noopener noreferrer"
                        aria-label={t('Source {n}', { n: from.n })}
                      >
                        {from.n}
                      </a>
                    ) : null}
                    <small>
                      {[from.site || e.domain, e.stance === 'qualifies' ? t('qualifies it') : '']
                        .filter(has)
                        .join(', ')}
                    </small>
                  </li>
                );
              })
            ) : (
              <li className="ds-dim">{t('None found.')}</li>
            )}
          </ul>
        </div>
      );
      return (
        <>
          <p className="ds-small ds-dim" style={{ padding: '12px 0 10px' }}>
            {Object.entries(tally)
              .map(([w, n]) => `${n} ${w}`)
              .join(' · ')}
          </p>
          {claims.map((c, i) => {
            const v = verdict(c.verdict);
            // each quote once, and never without its words: what is counted is what is listed
            const evidence = list(c.evidence)
              .map((e) => ({
                ...e,
                quote: e.quote || (facts[e.fact_id] || {}).text || '',
              }))
              .filter(
                (e, at, all) => e.quote && all.findIndex((o) => o.quote === e.quote && o.stance === e.stance) === at,
              );
            const pro = evidence.filter((e) => e.stance === 'supports'),
              against = evidence.filter((e) => ['contradicts', 'qualifies'].includes(e.stance));
            const qualified = against.length > 0 && against.every((e) => e.stance === 'qualifies');
            const cs = c.counter_search,
              queries = cs && (Array.isArray(cs.queries) ? cs.queries.length : cs.queries),
              found = cs && (Array.isArray(cs.found) ? cs.found.length : cs.found);
            const conf = has(c.confidence) ? Math.round(c.confidence <= 1 ? c.confidence * 100 : c.confidence) : null;
            const foot = [
              !queries
                ? t('Nothing was searched for against it.')
                : t(
                    found
                      ? 'Counter-search: {queries}, {n} found.'
                      : cs.read
                        ? 'Counter-search: {queries}, nothing further.'
                        : 'Counter-search: {queries}, nothing to the point.',
                    { queries: plural(queries, 'search', 'searches'), n: found },
                  ),
              conf !== null ? t('Confidence {n}.', { n: conf }) : '',
              c.note || '',
            ]
              .filter(Boolean)
              .join(' ');
            return (
              <section className="ds-cl" key={c.id ?? i} aria-label={t('Claim {n}', { n: i + 1 })}>
                <div className="ds-row">
                  <span className="ds-small ds-dim" style={{ fontWeight: 600 }}>
                    {t('Claim {n}', {
                      n: /^\d+$/.test(String(c.id)) ? c.id : i + 1,
                    })}
                  </span>
                  <span className="ds-grow" />
                  <span className={`ds-tag ds-${v.tone}`}>
                    {Icon(React, v.shape, 13)}
                    {v.word}
                  </span>
                </div>
                <p dir="auto">{c.text}</p>
                {evidence.length ? (
                  <div className="ds-fa">
                    <Side name={t('For')} rows={pro} />
                    <Side name={t(qualified ? 'Qualifies it' : 'Against')} rows={against} />
                  </div>
                ) : null}
                {foot ? <p className="ds-small ds-dim">{foot}</p> : null}
              </section>
            );
          })}
        </>
      );
    }

    const span = (v, show) => {
      if (!has(v)) return '–';
      if (Array.isArray(v)) return v.length === 2 ? `${show(v[0])}–${show(v[1])}` : v.map(show).join(', ');
      if (typeof v === 'object') {
        const lo = v.low ?? v.min ?? v.from,
          hi = v.high ?? v.max ?? v.to;
        return has(lo) && has(hi)
          ? String(show(lo, v)) === String(show(hi, v))
            ? show(lo, v)
            : `${show(lo, v)}–${show(hi, v)}`
          : has(v.value)
            ? show(v.value)
            : '–';
      }
      return typeof v === 'number' ? show(v) : String(v);
    };
    // The challenge is no part of the plan: the report's own table leaves it out, too.
    const planned = (doc) => list(doc.nodes).filter((n) => n.role === 'leaf');
    const FIGURES = [
      // row, names in the forecast, name in the actual figures, how it reads
      [
        'Time',
        ['seconds', 'time'],
        (a) => a.seconds,
        (v, f) => (typeof v === 'number' ? clock(f && f.unit === 'min' ? v * 60 : v) : v),
      ],
      [
        'Cost',
        ['cost_usd', 'cost'],
        (a) => a.cost_usd,
        (v) => (v === 0 ? t('free') : typeof v === 'number' ? money(v) : v),
      ],
      ['Sources read', ['sources', 'sources read', 'sources_read'], (a, m) => m.sources_read, (v) => v],
      ['Searches', ['searches'], (a, m) => m.searches ?? a.searches, (v) => v],
      ['Model calls', ['model_calls', 'model calls', 'calls'], (a) => a.model_calls, (v) => v],
      [
        'Tokens',
        ['tokens'],
        (a) => (has(a.tokens_in) || has(a.tokens_out) ? (a.tokens_in || 0) + (a.tokens_out || 0) : undefined),
        (v) => (typeof v === 'number' ? count(v) : v),
      ],
      ['Parts', ['parts', 'branches', 'nodes'], (a, m, d) => planned(d).length || undefined, (v) => v],
    ];
    function Methodology({ doc }) {
      const m = doc.methodology || {},
        a = m.actual || {};
      const answers = list(doc.answers),
        asked = answers.some((one) => one.asked) ? answers.filter((one) => one.asked) : answers,
        // As the report counts: an answer in part is half of one.
        answered = asked.reduce((n, one) => n + ({ answered: 1, partly: 0.5 }[one.status] || 0), 0);
      const forecast = {};
      const told = m.forecast && Array.isArray(m.forecast.lines) ? m.forecast.lines : m.forecast;
      if (Array.isArray(told))
        for (const f of told)
          forecast[String(f.name).toLowerCase()] =
            f.low === undefined ? (f.value ?? f) : f.low === null || f.high === null ? 'unknown' : f;
      else if (told && typeof told === 'object')
        for (const [k, v] of Object.entries(told)) forecast[k.toLowerCase()] = v;
      const rows = FIGURES.map(([name, keys, actual, show]) => [
        name,
        keys.map((k) => forecast[k]).find(has),
        actual(a, m, doc),
        show,
      ]).filter((r) => has(r[1]) || has(r[2]));
      const nodes = planned(doc),
        bad = (w) => nodes.filter((n) => String(n.status).startsWith(w)).length;
      const extra = [
        bad('fail') ? t('{n} failed', { n: bad('fail') }) : '',
        bad('stop') ? t('{n} stopped', { n: bad('stop') }) : '',
      ]
        .filter(Boolean)
        .join(', ');
      const rejected = list(m.sources_rejected),
        skipped = list(m.skipped_topics),
        limits = list(doc.limitations),
        tried = list(doc.queries_tried),
        errors = list(doc.error_log);
      const hash = (doc.contract || {}).hash;
      return (
        <>
          {rows.length ? (
            <table className="ds-mt">
              <thead>
                <tr>
                  <th scope="col">{t('Forecast and actual')}</th>
                  <th scope="col">{t('Forecast')}</th>
                  <th scope="col">{t('Actual')}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(([name, f, v, show]) => (
                  <tr key={name}>
                    <td>{t(name)}</td>
                    <td className="ds-dim" style={{ fontWeight: 400 }}>
                      {span(f, show)}
                    </td>
                    <td>
                      {span(v, show)}
                      {name === 'Parts' && extra ? `, ${extra}` : ''}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          ) : null}
          <p className="ds-small ds-dim" style={{ marginTop: 8 }}>
            {[
              has(m.rounds) ? `${plural(m.rounds, 'round')}.` : '',
              has(doc.verifiable_ratio)
                ? t('{n} % of statements can be verified.', {
                    n: Math.round(doc.verifiable_ratio * 100),
                  })
                : '',
              has(doc.confidence)
                ? t('Confidence {n} of 100: support of the claims, statements verified, {a} of {m} answered.', {
                    n: Math.round(doc.confidence),
                    a: count(answered),
                    m: asked.length,
                  })
                : '',
              hash ? `${t('Contract')} ${String(hash).slice(0, 4)} ${String(hash).slice(4, 8)}.` : '',
            ]
              .filter(Boolean)
              .join(' ')}
          </p>
          {list(m.tags).length ? (
            <>
              <h3 className="ds-label">{t('What to know about how this was made')}</h3>
              {m.tags.map((t, i) => (
                <div className="ds-hash" key={i}>
                  <span className="ds-mono">
                    {String(t.tag || t).startsWith('#') ? t.tag || t : '#' + (t.tag || t)}
                  </span>
                  {t.text ? <p dir="auto">{t.text}</p> : null}
                </div>
              ))}
            </>
          ) : null}
          {limits.length ? (
            <>
              <h3 className="ds-label">{t('Limitations')}</h3>
              {limits.map((t, i) => (
                <div className="ds-hash" key={i}>
                  <p dir="auto">{said(t)}</p>
                </div>
              ))}
            </>
          ) : null}
          {rejected.length || skipped.length || tried.length || errors.length ? (
            <h3 className="ds-label">{t('The record')}</h3>
          ) : null}
          {rejected.length ? (
            <details>
              <summary>
                {t('{sources} set aside', {
                  sources: plural(rejected.length, 'source'),
                })}
              </summary>
              <ul>
                {rejected.map((r, i) => (
                  <li key={i}>
                    {webAddress(r.url) && r.url ? (
                      <a href={webAddress(r.url)} target="_blank" rel="noopener noreferrer">
                        {r.title || r.url}
                      </a>
                    ) : (
                      r.title || named(r.url)
                    )}
                    <small>{globalThis.dossier.said(r.said ?? r.reason)}</small>
                  </li>
                ))}
              </ul>
            </details>
          ) : null}
          {tried.length ? (
            <details>
              <summary>
                {t('{searches} tried', {
                  searches: plural(tried.length, 'search', 'searches'),
                })}
              </summary>
              <ul>
                {tried.map((q, i) => (
                  <li key={i} dir="auto">
                    {said(q)}
                  </li>
                ))}
              </ul>
            </details>
          ) : null}
          {skipped.length ? (
            <details>
              <summary>
                {t('{topics} skipped', {
                  topics: plural(skipped.length, 'topic'),
                })}
              </summary>
              <ul>
                {skipped.map((q, i) => (
                  <li key={i} dir="auto">
                    {said(q)}
                  </li>
                ))}
              </ul>
            </details>
          ) : null}
          {errors.length ? (
            <details>
              <summary>
                {t('{errors} on the way', {
                  errors: plural(errors.length, 'error'),
                })}
              </summary>
              <ul>
                {errors.map((q, i) => (
                  <li key={i}>{said(q)}</li>
                ))}
              </ul>
            </details>
          ) : null}
        </>
      );
    }

    // What lay open. Where the window crosses the width of a phone the page draws the panel anew: it goes on from here.
    const open = { id: '', tab: '', doc: null };

    return function EvidencePanel({ p, apiClient }) {
      const id = p.job_id,
        base = useId();
      const url = (path) => (apiClient && apiClient.buildEndpoint ? apiClient.buildEndpoint(path) : path);
      if (open.id !== id) Object.assign(open, { id, tab: p.tab || 'sources', doc: null });
      const [state, setState] = useState(open.doc ? { at: 'here', doc: open.doc } : { at: 'first' });
      const [tab, select] = useState(open.tab);
      const setTab = (key) => select((open.tab = key));
      const tabs = useRef(null);
      const load = async () => {
        if (!open.doc) setState({ at: 'first' });
        try {
          const r = await fetch(url(`/research/jobs/${encodeURIComponent(id)}/report.json`), {
            credentials: 'include',
          });
          setState(
            r.ok
              ? { at: 'here', doc: (open.doc = await r.json()) }
              : {
                  at: r.status === 404 || r.status === 410 ? 'gone' : 'failed',
                },
          );
        } catch (e) {
          setState({ at: 'failed' });
        }
      };
      useEffect(() => {
        load();
      }, [id]);
      if (state.at !== 'here')
        return (
          <div className="ds ds-ev">
            <p className="ds-dim" role="status" style={{ padding: '12px 0' }}>
              {state.at === 'first' ? (
                t('Opening the evidence.')
              ) : state.at === 'gone' ? (
                t('The evidence of this run is no longer on the server.')
              ) : (
                <span>
                  {t('The evidence could not be fetched.')}{' '}
                  <button type="button" className="ds-link" onClick={load}>
                    {t('Try again')}
                  </button>
                </span>
              )}
            </p>
          </div>
        );
      const doc = state.doc;
      const quoteAt = (fact) => url(`/research/jobs/${encodeURIComponent(id)}/quote/${encodeURIComponent(fact)}`);
      const TABS = [
        ['sources', `${t('Sources')} ${list(doc.references).length || ''}`],
        ['claims', `${t('Claims')} ${list(doc.claims).length || ''}`],
        ['methodology', t('Methodology')],
      ];
      const onKey = (e) => {
        const i = TABS.findIndex(([k]) => k === tab);
        const to =
          e.key === 'ArrowRight'
            ? (i + 1) % 3
            : e.key === 'ArrowLeft'
              ? (i + 2) % 3
              : e.key === 'Home'
                ? 0
                : e.key === 'End'
                  ? 2
                  : -1;
        if (to < 0) return;
        e.preventDefault();
        setTab(TABS[to][0]);
        tabs.current.children[to].focus();
      };
      return (
        <div className="ds ds-ev" data-tab={tab}>
          <div className="ds-tabs" role="tablist" aria-label={t('Evidence')} ref={tabs} onKeyDown={onKey}>
            {TABS.map(([key, name]) => (
              <button
                key={key}
                type="button"
                role="tab"
                id={`${base}t${key}`}
                aria-controls={`${base}p`}
                aria-selected={tab === key}
                tabIndex={tab === key ? 0 : -1}
                className="ds-tab"
                onClick={() => setTab(key)}
              >
                {name.trim()}
              </button>
            ))}
          </div>
          <div role="tabpanel" id={`${base}p`} aria-labelledby={`${base}t${tab}`} tabIndex={0}>
            {tab === 'sources' ? (
              <Sources doc={doc} quoteAt={quoteAt} />
            ) : tab === 'claims' ? (
              <Claims doc={doc} quoteAt={quoteAt} />
            ) : (
              <Methodology doc={doc} id={id} url={url} />
            )}
          </div>
        </div>
      );
    };
  })();

const EvidencePanel = parts.EvidencePanel;
export default <EvidencePanel p={props} apiClient={apiClient} />;
