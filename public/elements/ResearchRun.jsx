// The live run. It holds only a job id: it reads GET /research/jobs/{id}/tree once, then the event stream, so that a
// reload, a second tab or a return next week all show the truth. Events are painted at most 4 times a second.
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';

const parts = (globalThis.dossierParts = globalThis.dossierParts || {});

parts.ResearchRun =
  parts.ResearchRun ||
  (function () {
    const { Icon, clock, spoken, money, count, plural, speak, t, told, said } = globalThis.dossier;
    const { run } = globalThis.dossier;
    const { KINDS, STAGES, STEPS, ended, looks } = run;
    const PAINT = 250;

    // ---------------------------------------------------------------- the job as the server tells it
    function watch(id, url, tell) {
      // Only the line to the server is kept here; what it says is folded in public/run_state.js.
      const job = Object.assign(run.begin(Date.now()), { link: 'first', missed: 0 });
      let stream = null;
      let timer = 0;
      let retry = 0;
      let grace = 0;
      let closed = false;
      let wait = 1000;
      let lostAt = 0;
      const paint = () => {
        timer = 0;
        tell({ ...job, nodes: new Map(job.nodes), feed: job.feed.slice(0, 300) });
      };
      const soon = () => {
        if (!timer && !closed) timer = setTimeout(paint, PAINT);
      };
      const shut = () => {
        if (stream) stream.close();
        stream = null;
        clearTimeout(grace);
        clearTimeout(retry);
      };
      const lost = () => {
        shut();
        if (closed || document.hidden) return;
        if (!lostAt) lostAt = Date.now();
        job.link = job.link === 'first' ? 'first' : 'lost';
        soon();
        retry = setTimeout(read, wait);
        wait = Math.min(wait * 1.6, 10000);
      };
      const hear = (e) => {
        let d;
        try {
          d = JSON.parse(e.data);
        } catch (x) {
          return;
        }
        const again = run.takeEvent(job, d, Date.now());
        if (again && ended(job)) read();
        else if (again) setTimeout(() => !closed && stream && read(), PAINT);
        soon();
      };
      async function read() {
        shut();
        if (closed) return;
        let tree;
        try {
          const r = await fetch(url(`/research/jobs/${encodeURIComponent(id)}/tree`), {
            credentials: 'include',
            cache: 'no-store',
          });
          if (closed) return;
          if (r.status === 404 || r.status === 410) {
            job.link = 'gone';
            paint();
            return;
          }
          if (r.status === 401 || r.status === 403) {
            job.link = 'denied';
            paint();
            return;
          }
          if (!r.ok) throw new Error(r.status);
          tree = await r.json();
        } catch (x) {
          lost();
          return;
        }
        if (closed) return;
        wait = 1000;
        run.takeTree(job, tree, Date.now());
        if (lostAt && Date.now() - lostAt > 8000) {
          job.missed = Math.round((Date.now() - lostAt) / 1000);
          setTimeout(() => {
            job.missed = 0;
            soon();
          }, 30000);
        }
        lostAt = 0;
        job.link = 'live';
        clearTimeout(timer);
        paint();
        if (ended(job) || document.hidden) return;
        stream = new EventSource(url(`/research/jobs/${encodeURIComponent(id)}/events?after=${job.seq}`), {
          withCredentials: true,
        });
        for (const k of KINDS) stream.addEventListener(k, hear);
        stream.onopen = () => {
          clearTimeout(grace);
          wait = 1000;
        };
        stream.onerror = () => {
          if (!stream) return;
          if (stream.readyState === 2) {
            lost();
            return;
          } // closed for good: begin again with the tree
          if (!lostAt) lostAt = Date.now();
          clearTimeout(grace);
          grace = setTimeout(read, 400); // the tree says whether the run ended or the line broke
        };
      }
      const seen = () => {
        if (document.hidden) {
          if (stream || retry) shut();
        } // a browser allows few connections to one host
        else if (!stream && !ended(job) && job.link !== 'gone' && job.link !== 'denied') read();
      };
      document.addEventListener('visibilitychange', seen);
      read();
      return {
        again: () => {
          wait = 1000;
          read();
        },
        stop: () => {
          closed = true;
          shut();
          clearTimeout(timer);
          document.removeEventListener('visibilitychange', seen);
        },
      };
    }

    // ---------------------------------------------------------------- rows
    const Row = memo(function Row({
      node,
      number,
      depth,
      pos,
      size,
      kids,
      folded,
      focusable,
      open,
      ticking,
      steer,
      again,
      fresh,
      act,
    }) {
      const [word, tone, look] = looks(node.state);
      const doing = said(node.said);
      const live = run.atWork(node.state);
      const secs = (node.seconds || 0) + (ticking && live ? Math.max(0, ticking - node.at) / 1000 : 0);
      const waits = node.state === 'queued';
      return (
        <div
          role="treeitem"
          data-node={node.id}
          data-state={node.state}
          aria-level={depth + 1}
          aria-posinset={pos}
          aria-setsize={size}
          aria-expanded={kids ? !folded : undefined}
          tabIndex={focusable ? 0 : -1}
          className={`ds-nd ds-${tone}` + (fresh ? ' ds-new' : '')}
          style={{ '--d': depth }}
        >
          {depth ? <i className="ds-guides" /> : null}
          {Icon(React, look, 17, 'ds-fade')}
          <span className="ds-name" title={t(node.title)}>
            {number ? <span className="ds-nn">{number} </span> : null}
            <bdi>{t(node.title)}</bdi>{' '}
          </span>
          <span className="ds-line">
            <span>
              <b>{t(word)}.</b> {doing}
            </span>
            {kids && folded ? (
              <span className="ds-kids">{t('{parts} folded', { parts: plural(kids, 'part') })}</span>
            ) : null}
            {steer && number && (live || waits) ? (
              <span className="ds-acts">
                {live ? (
                  <button
                    type="button"
                    className="ds-act"
                    tabIndex={focusable ? 0 : -1}
                    aria-label={t('Finish part {n} now', { n: number })}
                    onClick={() => act('finish', node.id)}
                  >
                    {Icon(React, 'flag', 13)}
                    {t('Finish now')}
                  </button>
                ) : null}
                <button
                  type="button"
                  className="ds-act"
                  tabIndex={focusable ? 0 : -1}
                  aria-label={t('Stop part {n}', { n: number })}
                  onClick={() => act('ask', node.id)}
                >
                  {Icon(React, 'square', 13)}
                  {t('Stop part')}
                </button>
              </span>
            ) : steer && again && number && ['failed', 'stopped'].includes(node.state) ? (
              <span className="ds-acts">
                <button
                  type="button"
                  className="ds-act"
                  tabIndex={focusable ? 0 : -1}
                  aria-label={t('Try part {n} again', { n: number })}
                  onClick={() => act('retry', node.id)}
                >
                  {Icon(React, 'retrying', 13)}
                  {t('Try again')}
                </button>
              </span>
            ) : null}
          </span>
          {waits ? null : (
            <>
              <span className="ds-c ds-c1">
                {node.sources ?? 0}
                <span className="ds-sr"> {t('sources')}</span>
              </span>
              <span className="ds-c ds-c2">
                {node.facts || '–'}
                <span className="ds-sr"> {t('facts')}</span>
              </span>
              <span className="ds-c ds-c3">{node.cost_usd ? money(node.cost_usd) : '–'}</span>
              <span className="ds-c ds-time">{clock(secs)}</span>
            </>
          )}
          {open ? (
            <div className="ds-more">
              {doing.length > 60 ? <p>{doing}</p> : null}
              <span>{plural(node.sources || 0, 'source')}</span>
              <span>{plural(node.facts || 0, 'fact')}</span>
              <span>{t('{n} tokens', { n: count(node.tokens) })}</span>
              {node.cost_usd ? <span>{money(node.cost_usd)}</span> : null}
            </div>
          ) : null}
        </div>
      );
    });

    function Tree({ job, steer, act, ticking }) {
      const box = useRef(null);
      const [folded, setFolded] = useState(() => new Set());
      const [open, setOpen] = useState('');
      const [here, setHere] = useState('');
      const [hover, setHover] = useState('');
      const [asked, setAsked] = useState('');
      const first = useRef(true),
        known = useRef(new Set());
      const all = useMemo(() => run.rowsOf(job.nodes), [job.shape]);
      let rows = all.filter((r) => job.nodes.has(r.id) && !r.path.some((p) => folded.has(p)));
      // a new row never pushes the row under the pointer: until it leaves, rows new above it stay back
      if (hover) {
        const at = rows.findIndex((r) => r.id === hover);
        rows = rows.filter((r, i) => i > at || known.current.has(r.id));
      }
      const fresh = new Set(first.current ? [] : rows.filter((r) => !known.current.has(r.id)).map((r) => r.id));
      useEffect(() => {
        first.current = false;
        for (const r of rows) known.current.add(r.id);
      });
      const current = rows.some((r) => r.id === here) ? here : rows.length ? rows[0].id : '';
      const doing = useCallback(
        (op, id) => {
          if (op === 'ask') setAsked(id);
          else act(op, id);
        },
        [act],
      );
      const stopIt = (op) => {
        const id = asked;
        setAsked('');
        act(op, id);
      };

      const focus = (row) => {
        if (!row) return;
        setHere(row.id);
        const el = box.current.querySelector(`[data-node="${CSS.escape(String(row.id))}"]`);
        if (el) {
          el.tabIndex = 0;
          el.focus();
        }
      };
      const fold = (id, shut) =>
        setFolded((old) => {
          const s = new Set(old);
          if (shut) s.add(id);
          else s.delete(id);
          return s;
        });
      const idOf = (e) => {
        const el = e.target.closest && e.target.closest('[data-node]');
        return el ? el.getAttribute('data-node') : '';
      };
      const rowOf = (e) => {
        const id = idOf(e);
        return rows.find((r) => String(r.id) === id);
      };
      const onKey = (e) => {
        if (
          e.altKey ||
          e.ctrlKey ||
          e.metaKey ||
          !(e.target.getAttribute && e.target.getAttribute('role') === 'treeitem')
        )
          return;
        const row = rowOf(e);
        if (!row) return;
        const i = rows.indexOf(row),
          k = e.key;
        if (asked && k !== 's' && k !== 'S') setAsked(''); // any other key takes the question back
        if (k === 'ArrowDown') focus(rows[i + 1]);
        else if (k === 'ArrowUp') focus(rows[i - 1]);
        else if (k === 'Home') focus(rows[0]);
        else if (k === 'End') focus(rows[rows.length - 1]);
        else if (k === 'ArrowRight') {
          if (!row.kids) return;
          if (folded.has(row.id)) fold(row.id, false);
          else focus(rows[i + 1]);
        } else if (k === 'ArrowLeft') {
          if (row.kids && !folded.has(row.id)) fold(row.id, true);
          else if (row.path.length) focus(rows.find((r) => r.id === row.path[row.path.length - 1]));
          else return;
        } else if (k === 'Enter') setOpen(open === row.id ? '' : row.id);
        else if (k === ' ' && row.kids) fold(row.id, !folded.has(row.id));
        else if (steer && (k === 'f' || k === 'F')) act('finish', row.id);
        else if (steer && (k === 's' || k === 'S')) {
          if (asked === row.id) {
            stopIt('stop');
          } else setAsked(row.id);
        } else if (
          steer &&
          job.stage === 'collecting' &&
          (k === 'r' || k === 'R') &&
          ['failed', 'stopped'].includes((job.nodes.get(row.id) || {}).state)
        )
          act('retry', row.id);
        else return;
        e.preventDefault();
      };
      const onClick = (e) => {
        if (e.target.closest('button')) return;
        const row = rowOf(e);
        if (!row) return;
        setHere(row.id);
        if (row.kids && e.target.closest('.ds-nd > .ds-icon')) fold(row.id, !folded.has(row.id));
        else if (!window.getSelection || String(window.getSelection()) === '') setOpen(open === row.id ? '' : row.id);
      };
      const askedRow = asked && rows.find((r) => r.id === asked && run.atWork((job.nodes.get(r.id) || {}).state));
      return (
        <div>
          <div
            className="ds-live"
            ref={box}
            onPointerOver={(e) => {
              if (e.pointerType === 'mouse') {
                const r = rowOf(e);
                if (r && r.id !== hover) setHover(r.id);
              }
            }}
            onPointerLeave={() => setHover('')}
          >
            <div className="ds-lhead" aria-hidden="true">
              <span />
              <span />
              <span>{t('src')}</span>
              <span>{t('facts')}</span>
              <span>{t('cost')}</span>
              <span>{t('time')}</span>
            </div>
            <div
              role="tree"
              aria-label={t('Research tree')}
              onKeyDown={onKey}
              onClick={onClick}
              onFocus={(e) => {
                const r = rowOf(e);
                if (r && r.id !== here) setHere(r.id);
              }}
            >
              {rows.map((r) => {
                const node = job.nodes.get(r.id);
                return (
                  <Row
                    key={r.id}
                    node={node}
                    number={r.number}
                    depth={r.depth}
                    pos={r.pos}
                    size={r.size}
                    kids={r.kids}
                    folded={folded.has(r.id)}
                    focusable={r.id === current}
                    open={open === r.id}
                    ticking={run.atWork(node.state) ? ticking : 0}
                    steer={steer}
                    again={job.stage === 'collecting'}
                    fresh={fresh.has(r.id)}
                    act={doing}
                  />
                );
              })}
            </div>
          </div>
          {askedRow ? (
            <div className="ds-note ds-caution ds-asked" role="alert">
              {Icon(React, 'square', 15)}
              <span>
                {t('Stop part {n}? What it has found is kept; Drop it leaves that out. The others go on.', {
                  n: askedRow.number,
                })}
              </span>
              <span className="ds-row">
                <button type="button" className="ds-btn ds-warn" onClick={() => stopIt('stop')}>
                  {t('Stop it')}
                </button>
                <button type="button" className="ds-btn" onClick={() => stopIt('drop')}>
                  {t('Drop it')}
                </button>
                <button type="button" className="ds-btn" onClick={() => setAsked('')}>
                  {t('Let it go on')}
                </button>
              </span>
            </div>
          ) : null}
        </div>
      );
    }

    function Feed({ feed }) {
      const list = useRef(null);
      const [shown, setShown] = useState(feed);
      const [atTop, setAtTop] = useState(true);
      const [said, setSaid] = useState('');
      const latest = useRef(feed);
      latest.current = feed;
      const spokenAt = useRef(0),
        pending = useRef(0);
      useEffect(() => {
        if (atTop) setShown(feed);
      }, [feed, atTop]);
      const top = feed.length ? feed[0].key : '';
      useEffect(() => {
        // a screen reader hears one message per 5 seconds at most
        if (!top || pending.current) return undefined;
        const hold = Math.max(0, 5000 - (Date.now() - spokenAt.current));
        pending.current = setTimeout(() => {
          pending.current = 0;
          spokenAt.current = Date.now();
          const f = latest.current[0];
          setSaid(f ? told(f.said) : '');
        }, hold);
        return undefined;
      }, [top]);
      useEffect(() => () => clearTimeout(pending.current), []);
      const before = useRef(null);
      useLayoutEffect(() => {
        // What newer lines push down glides there from where it stood, also where it was gliding still.
        const [first, was] = [list.current.firstElementChild, before.current];
        before.current = first;
        if (!was?.isConnected || was === first || !atTop || matchMedia('(prefers-reduced-motion: reduce)').matches)
          return;
        const by = first.offsetTop - was.offsetTop;
        for (const li of list.current.children) {
          const gliding = new DOMMatrix(getComputedStyle(li).transform).m42;
          const from = { transform: `translateY(${by + gliding}px)` };
          li.animate([from, { transform: 'none' }], { duration: 180, easing: 'ease-out' });
        }
      }, [shown]);
      const newest = shown.length ? feed.findIndex((f) => f.key === shown[0].key) : 0;
      const newer = atTop ? 0 : newest < 0 ? feed.length : newest;
      return (
        <div className="ds-feed">
          <h3 className="ds-label">{t('Activity')}</h3>
          {newer ? (
            <button
              type="button"
              className="ds-btn ds-newer"
              onClick={() => {
                setAtTop(true);
                setShown(feed);
                if (list.current) list.current.scrollTop = 0;
              }}
            >
              {t('{n} newer', { n: newer })}
            </button>
          ) : null}
          <ol
            ref={list}
            tabIndex={0}
            aria-label={t('Activity, newest first')}
            onScroll={(e) => setAtTop(e.currentTarget.scrollTop < 8)}
          >
            {shown.length ? (
              shown
                .filter((f) => told(f.said))
                .map((f) => (
                  <li key={f.key}>
                    <time>{clock(f.seconds)}</time>
                    <span dir="auto">{told(f.said)}</span>
                  </li>
                ))
            ) : (
              <li>
                <time />
                <span className="ds-dim">{t('Nothing yet. First sources should appear within half a minute.')}</span>
              </li>
            )}
          </ol>
          <div className="ds-sr" aria-live="polite">
            {said}
          </div>
        </div>
      );
    }

    function Now({ text, over }) {
      // the line keeps room for two, and the height of the longest it has shown: a new one moves nothing below it
      const line = useRef(null);
      const [lines, setLines] = useState(2);
      useLayoutEffect(() => {
        const need = line.current ? Math.min(3, Math.round(line.current.scrollHeight / 21)) : 1;
        if (!over && need > lines) setLines(need);
      }, [text, over]);
      return (
        <p
          ref={line}
          className="ds-now"
          style={over ? undefined : { minHeight: lines * 21 }}
          dir="auto"
          title={over ? undefined : text}
        >
          {over ? (
            text
          ) : (
            <>
              <b>{t('Now:')}</b>{' '}
              {text || (
                <span className="ds-dim">{t('starting. First sources should appear within half a minute.')}</span>
              )}
            </>
          )}
        </p>
      );
    }

    function Stages({ stage }) {
      const at = (STAGES[stage] || ['', -1])[1];
      if (at < 0) return null;
      return (
        <>
          <ol className="ds-stages" aria-label={t('Stages')}>
            {STEPS.map((name, i) => (
              <li key={name} aria-current={i === at ? 'step' : undefined}>
                {i < at ? Icon(React, 'tick', 12) : null}
                {t(name)}
              </li>
            ))}
          </ol>
          <span className="ds-stage-short ds-narrow-only">
            {at < 5 ? t('Step {n} of 5: {step}', { n: at + 1, step: t(STEPS[at]) }) : t(STAGES[stage][0])}
          </span>
        </>
      );
    }

    function Budget({ job, p, seconds }) {
      const minutes = job.minutes ?? p.minutes,
        reserve = job.reserve_s ?? p.reserve_s ?? 0;
      const total = minutes ? minutes * 60 : 0;
      const cap = job.max_cost_usd ?? p.max_cost_usd ?? p.cost_usd;
      const used = job.usage || {};
      const share = (v, of) => Math.min(100, Math.max(0, (100 * v) / of)) + '%';
      return (
        <div className="ds-bud">
          <div>
            <div className="ds-lab">
              <span>
                <b>{clock(seconds)}</b>
                {total ? t(' of {n} min', { n: minutes }) : t(' so far, no time limit')}
              </span>
              {total && reserve ? <span>{t('last {time} kept for writing', { time: clock(reserve) })}</span> : null}
            </div>
            {total ? (
              <div
                className="ds-meter"
                role="meter"
                aria-label={t('Time')}
                aria-valuemin={0}
                aria-valuemax={total}
                aria-valuenow={Math.min(total, Math.round(seconds))}
                aria-valuetext={
                  t('{time} of {n}', { time: spoken(seconds), n: minutes }) +
                  (reserve ? `, ${t('last {time} kept for writing', { time: spoken(reserve) })}` : '')
                }
              >
                <i style={{ width: share(seconds, total) }} />
                {reserve ? <u style={{ width: share(reserve, total) }} /> : null}
              </div>
            ) : null}
          </div>
          <div>
            <div className="ds-lab">
              <span>
                <b>{used.cost_usd === null ? t('Cost not known') : used.cost_usd ? money(used.cost_usd) : t('free')}</b>
                {cap ? t(' of {bound}', { bound: money(cap) }) : used.cost_usd ? t(' spent') : t(' so far')}
              </span>
              <span>{used.tokens ? t('{n} tokens', { n: count(used.tokens) }) : ''}</span>
            </div>
            {cap ? (
              <div
                className="ds-meter"
                role="meter"
                aria-label={t('Cost')}
                aria-valuemin={0}
                aria-valuemax={cap}
                aria-valuenow={Math.min(cap, used.cost_usd || 0)}
                aria-valuetext={t('{time} of {n}', { time: money(used.cost_usd || 0), n: money(cap) })}
              >
                <i style={{ width: share(used.cost_usd || 0, cap) }} />
              </div>
            ) : null}
          </div>
        </div>
      );
    }

    /** Why a run rests or came to no report, and what goes on with it; null while it works or is done. */
    function rest(job) {
      const why = said(job.note);
      if (['failed', 'cancelled'].includes(job.status)) {
        const found = job.kept ? t('What was found is kept.') : t('Nothing was found yet.');
        const kept = job.grade ? t('The earlier report stays.') : found; // it was taken up again
        const again = [['restart', t('Try again')]];
        return [
          job.status === 'failed' ? t('The run failed.') : '',
          job.status === 'failed' && why ? `${why} ${kept}` : kept,
          job.kept ? [...again, ['finish', t('Write from these findings')]] : again,
        ];
      }
      if (job.status !== 'blocked') return null;
      const resume = [['resume', t('Resume')]];
      if (job.blocked_reason === 'paused')
        return [t('Paused.'), t('Nothing is searched or paid for until you resume.'), resume];
      if (job.blocked_reason === 'awaiting_key')
        return [
          t('The model provider refused the key.'),
          t('Nothing was lost. Mend the key in .env, then resume.'),
          resume,
        ];
      if (job.blocked_reason === 'needs_rework')
        return [
          t('The judge sent this report back.'),
          t('It stands below with what was found wanting.'),
          [
            ['rework', t('Write it anew')],
            ['release', t('Release as it is')],
          ],
        ];
      return [t('The run rests.'), why, resume];
    }

    /** What it is at; where it rests, what the note below does not say. */
    const at = (job) => {
      const text = told(job.feed.find((f) => told(f.said))?.said ?? job.now);
      return text
        .replace((rest(job) || [''])[0], '')
        .replaceAll('`', '')
        .trim();
    };

    function Controls({ id, url, ended, job, note, again, say }) {
      const [ask, setAsk] = useState(false);
      const [sent, setSent] = useState('');
      const [error, setError] = useState('');
      const yes = useRef(null),
        stopper = useRef(null);
      useEffect(() => {
        if (ask && yes.current) yes.current.focus();
      }, [ask]);
      useEffect(() => setSent(''), [ended]); // what was ordered of a run at work says nothing of one that is over
      const post = async (what, label) => {
        setAsk(false);
        setSent(what);
        setError('');
        try {
          // What is done to a run that is over is said to the chat, which reads labels as commands and shows the rest.
          const r = ended
            ? { ok: (await say(label))?.success !== false, status: '' }
            : await fetch(url(`/research/jobs/${encodeURIComponent(id)}/${what}`), {
                method: 'POST',
                credentials: 'include',
              });
          if (r.ok && ended) {
            setSent('');
            again();
          }
          if (!r.ok)
            throw new Error(
              r.status === 404
                ? t('This run is no longer on the server.')
                : r.status === 409
                  ? t('The run is already ending.')
                  : t('The server refused ({why}).', { why: r.status }),
            );
        } catch (e) {
          setSent('');
          setError(e instanceof TypeError ? t('The server did not answer. Nothing was changed.') : e.message);
        }
      };
      const rests = (ended ? sent : ['resume', 'rework', 'release'].includes(sent)) ? null : rest(job);
      if (ended && !rests) return null;
      return (
        <div className="ds-controls">
          {rests ? (
            <p className="ds-note ds-caution" role="status">
              {Icon(React, 'stopped', 15)}
              <span>
                {ended ? null : <b>{rests[0]}</b>} {rests[1]}
              </span>
              {rests[2].map(([what, label]) => (
                <button key={what} type="button" className="ds-btn" onClick={() => post(what, label)}>
                  {label}
                </button>
              ))}
            </p>
          ) : null}
          {ended ? null : ask ? (
            <span
              role="group"
              aria-label={t('Stop the run?')}
              className="ds-row"
              onKeyDown={(e) => {
                if (e.key === 'Escape') {
                  setAsk(false);
                  setTimeout(() => stopper.current && stopper.current.focus());
                }
              }}
            >
              <span>{t('Stop the run? What was found so far is kept.')}</span>
              <button type="button" ref={yes} className="ds-btn ds-warn" onClick={() => post('cancel')}>
                {Icon(React, 'square', 13)}
                {t('Stop run')}
              </button>
              <button type="button" className="ds-btn" onClick={() => setAsk(false)}>
                {t('Keep going')}
              </button>
            </span>
          ) : sent === 'cancel' ? (
            <span role="status" className="ds-dim">
              {t('Stopping. Paid calls end within seconds.')}
            </span>
          ) : (
            <>
              <button type="button" ref={stopper} className="ds-btn" onClick={() => setAsk(true)}>
                {Icon(React, 'square', 13)}
                {t('Stop run')}
              </button>
              {rests ? null : sent === 'finish' ? (
                <span role="status" className="ds-dim">
                  {t('Finishing now: no new searches, writing from what there is.')}
                </span>
              ) : (
                <button type="button" className="ds-btn" onClick={() => post('finish')}>
                  {Icon(React, 'flag', 13)}
                  {t('Finish now')}
                </button>
              )}
            </>
          )}
          {error || note ? (
            <span role="alert" style={{ color: 'var(--ds-bad)' }}>
              {error || note}
            </span>
          ) : null}
          {job.link === 'lost' ? (
            <p className="ds-note ds-caution" role="status">
              {Icon(React, 'retrying', 15)}
              <span>
                <b>{t('Reconnecting.')}</b> {t('The run is not affected by this page.')}{' '}
                <button type="button" className="ds-link" onClick={again}>
                  {t('Try now')}
                </button>
              </span>
            </p>
          ) : job.missed ? (
            <p className="ds-note ds-info" role="status">
              {Icon(React, 'retrying', 15)}
              <span>
                <b>{t('Reconnected.')}</b>{' '}
                {t('You missed {time}. Nothing that was found is lost.', { time: clock(job.missed) })}
              </span>
            </p>
          ) : null}
        </div>
      );
    }

    const queries = (job) => [...job.nodes.values()].filter((n) => n.role === 'query').length;

    function summary(job) {
      const { shape, tone, counts } = run.endOf(job);
      const tail = [
        t('{n} of {parts} delivered', { n: counts.delivered, parts: plural(counts.all, 'part') }),
        counts.empty ? t('{n} found nothing', { n: counts.empty }) : '',
        counts.failed ? t('{n} failed', { n: counts.failed }) : '',
        counts.stopped ? t('{n} stopped', { n: counts.stopped }) : '',
      ];
      const [held] = rest(job) || [];
      const head =
        job.ending === 'stopped' ? t('Stopped at {time}.', { time: clock(job.seconds) }) : held || t('Run ended.');
      return [shape, tone, head, `${tail.filter(Boolean).join(', ')}. ${job.limited}`.trim()];
    }

    /** Whether an element has left the window of its scrolling frame, and where that begins. */
    function useOutOfSight(box, on) {
      const [edge, setEdge] = useState(null);
      useEffect(() => {
        const frame = on && box.current ? box.current.closest('.overflow-y-auto') : null;
        if (!frame) {
          setEdge(null);
          return undefined;
        }
        const watcher = new IntersectionObserver(
          ([seen]) => setEdge(seen.isIntersecting ? null : frame.getBoundingClientRect()),
          // The last line of a card is not the card: it has left when only its lower edge is seen.
          { root: frame, rootMargin: '-80px 0px -40px' },
        );
        watcher.observe(box.current);
        return () => watcher.disconnect();
      }, [on]);
      return edge;
    }

    /** What was waited for is scrolled to when it comes, the card above it left as it is; a hand on the page wins. */
    function showReport(card) {
      const until = Date.now() + 15000;
      const look = setInterval(() => {
        const report = [...document.querySelectorAll('.ds-report[data-report="here"]')].at(-1);
        const after = report && card.compareDocumentPosition(report) & Node.DOCUMENT_POSITION_FOLLOWING;
        if (after) report.scrollIntoView({ block: 'start' });
        if (after || Date.now() > until) leave();
      }, 200);
      const kinds = ['wheel', 'touchstart', 'pointerdown', 'keydown'];
      const leave = () => {
        clearInterval(look);
        for (const kind of kinds) removeEventListener(kind, leave, { capture: true });
      };
      for (const kind of kinds) addEventListener(kind, leave, { passive: true, capture: true });
    }

    /** Stage, time and Stop under the header, while the card is scrolled away. */
    function Strip({ job, seconds, minutes, edge, show, stop }) {
      const [ask, setAsk] = useState(false);
      // A phone has no room beside what was said: there it takes the place of the line below the message box.
      const { top, left, width } = edge;
      const box = width < 600 && document.getElementById('message-composer').getBoundingClientRect();
      const style = box ? { top: box.bottom, bottom: 0, left, width } : { top, left, maxWidth: width };
      return (
        <div className="ds-strip" role="region" aria-label={t('The run at a glance')} style={style}>
          {Icon(React, 'working', 15)}
          <span className="ds-clip">
            <b>{t((STAGES[job.stage] || ['Starting'])[0])}</b> · <span className="ds-num">{clock(seconds)}</span>
            {minutes ? t(' of {n} min', { n: minutes }) : ''}
            <span className="ds-wide-only">
              {' · '}
              {t('{sources} read', { sources: plural((job.usage || {}).sources || 0, 'source') })}
            </span>
          </span>
          <span className="ds-grow" />
          {ask ? (
            <>
              <button type="button" className="ds-btn ds-warn" onClick={stop}>
                {t('Stop run')}
              </button>
              <button type="button" className="ds-btn" onClick={() => setAsk(false)}>
                {t('Keep going')}
              </button>
            </>
          ) : (
            <>
              <button type="button" className="ds-btn" onClick={show}>
                {t('Show')}
              </button>
              <button type="button" className="ds-btn" onClick={() => setAsk(true)}>
                {Icon(React, 'square', 13)}
                {t('Stop')}
              </button>
            </>
          )}
        </div>
      );
    }

    return function ResearchRun({ p, apiClient, callAction }) {
      speak(p.lang);
      const id = p.job_id;
      const url = useCallback(
        (path) => (apiClient && apiClient.buildEndpoint ? apiClient.buildEndpoint(path) : path),
        [apiClient],
      );
      const [job, setJob] = useState(null);
      const [tick, setTick] = useState(() => Date.now());
      const [show, setShow] = useState(false);
      const [note, setNote] = useState('');
      const feeder = useRef(null);
      useEffect(() => {
        if (p.moved) return undefined;
        feeder.current = watch(id, url, setJob);
        return () => feeder.current.stop();
      }, [id, p.moved]);
      const over = !!job && ended(job);
      const live = !!job && !over && job.status !== 'blocked' && job.link === 'live';
      useEffect(() => {
        if (!live) return undefined;
        const t = setInterval(() => {
          if (!document.hidden) setTick(Date.now());
        }, 1000);
        return () => clearInterval(t);
      }, [live]);
      const card = useRef(null);
      // Whoever watched the end keeps the card as it was, so that nothing jumps; one that was out of sight folds.
      const [watched, setWatched] = useState(false);
      const height = useRef(0);
      useLayoutEffect(() => {
        if (live && card.current) height.current = card.current.offsetHeight;
        if (live) setWatched(true);
      });
      const edge = useOutOfSight(card, live);
      useEffect(() => {
        if (!over || !watched) return;
        // With its lower edge in sight it would pull up all that stands below it.
        if (edge && card.current.getBoundingClientRect().bottom <= edge.top) setWatched(false);
        else showReport(card.current);
      }, [over]);
      const stop = () => {
        fetch(url(`/research/jobs/${encodeURIComponent(id)}/cancel`), { method: 'POST', credentials: 'include' }).catch(
          () => setNote(t('The server did not answer. Nothing was changed.')),
        );
      };
      const act = useCallback(
        async (op, node) => {
          setNote('');
          try {
            const path = String(node).split('/').map(encodeURIComponent).join('/');
            const r = await fetch(url(`/research/jobs/${encodeURIComponent(id)}/nodes/${path}/${op}`), {
              method: 'POST',
              credentials: 'include',
            });
            if (!r.ok) {
              const said = await r.json().catch(() => ({}));
              setNote((said.error && said.error.message) || t('The server refused ({why}).', { why: r.status }));
            }
          } catch (e) {
            setNote(t('That did not reach the server. The part goes on as before.'));
          }
        },
        [id, url],
      );

      if (p.moved)
        return (
          <div className="ds ds-past ds-quiet" data-job="moved">
            {Icon(React, 'retrying', 17)}
            <span>
              {t('This run goes on below.')}{' '}
              <button
                type="button"
                className="ds-link"
                onClick={() => document.getElementById(`step-${p.moved}`)?.scrollIntoView({ block: 'start' })}
              >
                {t('Show')}
              </button>
            </span>
          </div>
        );
      if (!job || job.link === 'first')
        return (
          <div className="ds ds-past ds-quiet" role="status" data-job="opening">
            {Icon(React, 'queued', 17)}
            <span>{t(job ? 'Reconnecting. The run itself goes on.' : 'Opening the run.')}</span>
          </div>
        );
      if (job.link === 'gone')
        return (
          <div className="ds ds-past ds-quiet" data-job="gone">
            {Icon(React, 'stopped', 17)}
            <span>{t('This run is no longer on the server.')}</span>
          </div>
        );
      if (job.link === 'denied')
        return (
          <div className="ds ds-past ds-quiet" data-job="denied">
            {Icon(React, 'stopped', 17)}
            <span>{t('You are not signed in, or this run belongs to somebody else.')}</span>
          </div>
        );

      const seconds = job.seconds + (live ? Math.max(0, Date.now() - job.at) / 1000 : 0);
      const controls = (
        <Controls
          id={id}
          url={url}
          ended={over}
          job={job}
          note={note}
          again={() => feeder.current.again()}
          say={(text) => callAction({ name: 'say', payload: { text, job_id: id } })}
        />
      );
      if (over && !show && !watched) {
        const [icon, tone, head, tail] = summary(job);
        return (
          <div className={`ds ds-past ds-${tone}`} data-job={job.status}>
            {Icon(React, icon, 17)}
            <div>
              <b>{head}</b> {tail}{' '}
              <button type="button" className="ds-link" aria-expanded="false" onClick={() => setShow(true)}>
                {t('Show tree')}
              </button>
              {controls}
            </div>
          </div>
        );
      }
      return (
        <article
          ref={card}
          className="ds ds-card ds-run"
          aria-label={t('Live research')}
          data-job={over && job.status === 'blocked' ? 'held' : job.status}
          data-link={job.link}
          style={over && watched ? { minHeight: height.current } : undefined}
        >
          {edge && !over ? (
            <Strip
              job={job}
              seconds={seconds}
              minutes={job.minutes ?? p.minutes}
              edge={edge}
              show={() => card.current.scrollIntoView({ block: 'start' })}
              stop={stop}
            />
          ) : null}
          <header>
            <div className="ds-row">
              <h2 className="ds-title ds-fit" dir="auto" title={p.title || job.title || ''}>
                {queries(job) > 1
                  ? t('Researching {n} questions', { n: queries(job) })
                  : p.title || job.title || t('Research')}
              </h2>
              <span className="ds-grow" />
              {over ? (
                <button
                  type="button"
                  className="ds-link"
                  aria-expanded="true"
                  onClick={() => {
                    setShow(false);
                    setWatched(false);
                  }}
                >
                  {t('Hide tree')}
                </button>
              ) : (
                <Stages stage={job.stage} />
              )}
            </div>
            <Now over={over} text={over ? summary(job).slice(2).join(' ') : at(job)} />
            <Budget job={job} p={p} seconds={seconds} />
            {controls}
          </header>
          <div className="ds-lv">
            <Tree job={job} steer={!over} act={act} ticking={live ? tick : 0} />
            <Feed feed={job.feed} />
          </div>
        </article>
      );
    };
  })();

const ResearchRun = parts.ResearchRun;
export default <ResearchRun p={props} apiClient={apiClient} callAction={callAction} />;
