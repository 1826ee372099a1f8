// The live run. It holds only a job id: it reads GET /research/jobs/{id}/tree once, then the event stream, so that a
// reload, a second tab or a return next week all show the truth. Events are collected and painted at most 4 times a second.
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'

const parts = (globalThis.dossierParts = globalThis.dossierParts || {})

parts.ResearchRun = parts.ResearchRun || (function () {
  const { Icon, clock, spoken, money, count, plural } = globalThis.dossier
  const PAINT = 250, KINDS = ['job', 'node', 'asked', 'search', 'source', 'rejected', 'round', 'section', 'note', 'report', 'message']
  const OVER = /^(done|complete|completed|succeeded|success|partial|blocked|nothing_found|failed|error|stopped|cancelled|canceled|interrupted)$/
  // Paused, or waiting for a key: it goes on, so the page goes on listening.
  const ended = (job) => OVER.test(job.status) && !/^(paused|awaiting_key|version)$/.test(job.blocked_reason || '')
  const STATES = { queued: ['Queued', 'quiet'], planning: ['Planning', 'work'], searching: ['Searching', 'work'], reading: ['Reading', 'work'], writing: ['Writing', 'work'], retrying: ['Retrying', 'caution'], done: ['Done', 'good'], partial: ['Partial', 'caution'], empty: ['Nothing found', 'quiet'], covered: ['Covered elsewhere', 'quiet'], failed: ['Failed', 'bad'], stopped: ['Stopped', 'quiet'] }
  const SAME = { pending: 'queued', waiting: 'queued', complete: 'done', completed: 'done', succeeded: 'done', delivered: 'done', cancelled: 'stopped', canceled: 'stopped', skipped: 'stopped', error: 'failed', extracting: 'reading', fetching: 'reading', composing: 'writing' }
  const shape = (s) => { const k = SAME[s] || s; return STATES[k] ? k : 'working' }
  const wordOf = (s) => (STATES[SAME[s] || s] || [String(s || 'working').charAt(0).toUpperCase() + String(s || 'working').slice(1).replace(/_/g, ' ')])[0]
  const toneOf = (s) => (STATES[SAME[s] || s] || ['', 'work'])[1]
  const running = (s) => ['planning', 'searching', 'reading', 'writing', 'retrying', 'working'].includes(shape(s))
  const STAGES = ['Planning', 'Collecting', 'Challenging', 'Composing', 'Judging']
  const STAGE_OF = { plan: 0, planning: 0, scoping: 0, queued: 0, collect: 1, collecting: 1, research: 1, researching: 1, searching: 1, reading: 1, challenge: 2, challenging: 2, reflecting: 2, compose: 3, composing: 3, writing: 3, synthesis: 3, synthesizing: 3, judge: 4, judging: 4, verify: 4, verifying: 4, grading: 4, done: 5, finished: 5 }

  // ---------------------------------------------------------------- the job as the server tells it
  function watch(id, url, tell) {
    const nodes = new Map(), feed = []
    const job = { status: '', stage: '', seq: 0, seconds: 0, at: Date.now(), minutes: null, reserve_s: null, usage: {}, now: '', link: 'first', missed: 0 }
    let stream = null, timer = 0, retry = 0, grace = 0, closed = false, wait = 1000, lostAt = 0, shape = 0
    const paint = () => { timer = 0; tell({ ...job, nodes: new Map(nodes), feed: feed.slice(0, 300), shape }) }
    const soon = () => { if (!timer && !closed) timer = setTimeout(paint, PAINT) }
    const put = (row) => {
      if (!row || row.id === undefined || row.id === null) return
      const old = nodes.get(row.id)
      if (!old || ('parent' in row && old.parent !== row.parent)) shape += 1
      nodes.set(row.id, { ...old, ...row, at: Date.now() })
    }
    const shut = () => { if (stream) stream.close(); stream = null; clearTimeout(grace); clearTimeout(retry) }
    const lost = () => {
      shut()
      if (closed || document.hidden) return
      if (!lostAt) lostAt = Date.now()
      job.link = job.link === 'first' ? 'first' : 'lost'; soon()
      retry = setTimeout(read, wait); wait = Math.min(wait * 1.6, 10000)
    }
    const hear = (e) => {
      let d
      try { d = JSON.parse(e.data) } catch (x) { return }
      if (d.seq && d.seq <= job.seq) return
      if (d.seq) job.seq = d.seq
      if (d.seconds !== undefined && d.seconds !== null) { job.seconds = d.seconds; job.at = Date.now() }
      if (d.usage) job.usage = d.usage
      if (d.now !== undefined && d.now !== null) job.now = d.now
      for (const row of d.nodes && d.nodes.length ? d.nodes : d.node ? [d.node] : []) put(row) // the row it is about, and those above it
      if (d.feed_text) { feed.unshift({ key: 's' + d.seq, seconds: d.seconds, text: d.feed_text }); if (feed.length > 400) feed.length = 400 }
      const said = d.event || {}
      if (said.tag === 'change') setTimeout(() => { if (!closed && stream) read() }, PAINT) // what may be spent may have changed
      if ((said.kind || e.type) === 'job') {
        if (said.status) job.status = said.status
        if (said.stage) job.stage = said.stage
        job.blocked_reason = said.blocked_reason || ''
        if (ended(job)) { shut(); read() } // once more whole: the last word of every branch
      }
      soon()
    }
    async function read() {
      shut()
      if (closed) return
      let tree
      try {
        const r = await fetch(url(`/research/jobs/${encodeURIComponent(id)}/tree`), { credentials: 'include', cache: 'no-store' })
        if (closed) return
        if (r.status === 404 || r.status === 410) { job.link = 'gone'; paint(); return }
        if (r.status === 401 || r.status === 403) { job.link = 'denied'; paint(); return }
        if (!r.ok) throw new Error(r.status)
        tree = await r.json()
      } catch (x) { lost(); return }
      if (closed) return
      wait = 1000
      for (const k of ['status', 'stage', 'seq', 'seconds', 'usage', 'now', 'minutes', 'reserve_s', 'max_cost_usd', 'forecast', 'title']) if (tree[k] !== undefined && tree[k] !== null) job[k] = tree[k]
      job.blocked_reason = tree.blocked_reason || ''
      job.at = Date.now()
      const known = new Set()
      for (const row of tree.nodes || []) { known.add(row.id); put(row) }
      for (const k of [...nodes.keys()]) if (!known.has(k)) { nodes.delete(k); shape += 1 }
      const told = (tree.feed || []).map((f, i) => ({ key: `t${f.seconds}-${f.text}`, seconds: f.seconds, text: f.text, i }))
      told.sort((a, b) => b.seconds - a.seconds || b.i - a.i)
      feed.splice(0, feed.length, ...told)
      if (lostAt && Date.now() - lostAt > 8000) {
        job.missed = Math.round((Date.now() - lostAt) / 1000)
        setTimeout(() => { job.missed = 0; soon() }, 30000)
      }
      lostAt = 0
      job.link = 'live'
      clearTimeout(timer); paint()
      if (ended(job) || document.hidden) return
      stream = new EventSource(url(`/research/jobs/${encodeURIComponent(id)}/events?after=${job.seq}`), { withCredentials: true })
      for (const k of KINDS) stream.addEventListener(k, hear)
      stream.onopen = () => { clearTimeout(grace); wait = 1000 }
      stream.onerror = () => {
        if (!stream) return
        if (stream.readyState === 2) { lost(); return } // closed for good: begin again with the tree
        if (!lostAt) lostAt = Date.now()
        clearTimeout(grace); grace = setTimeout(read, 400) // the tree says whether the run ended or the line broke
      }
    }
    const seen = () => {
      if (document.hidden) { if (stream || retry) shut() } // a browser allows few connections to one host
      else if (!stream && !ended(job) && job.link !== 'gone' && job.link !== 'denied') read()
    }
    document.addEventListener('visibilitychange', seen)
    read()
    return { again: () => { wait = 1000; read() }, stop: () => { closed = true; shut(); clearTimeout(timer); document.removeEventListener('visibilitychange', seen) } }
  }

  // ---------------------------------------------------------------- rows
  function order(nodes) {
    const kids = new Map()
    for (const n of nodes.values()) {
      const up = n.parent !== null && n.parent !== undefined && n.parent !== '' && nodes.has(n.parent) && n.parent !== n.id ? n.parent : ''
      if (!kids.has(up)) kids.set(up, [])
      kids.get(up).push(n.id)
    }
    const rows = [], met = new Set()
    const walk = (id, depth, number, pos, size, path) => {
      if (met.has(id)) return
      met.add(id)
      const list = kids.get(id) || []
      const n = nodes.get(id)
      const shown = typeof n.n === 'string' ? n.n : number
      rows.push({ id, depth, number: shown, pos, size, kids: list.length, path })
      list.forEach((k, i) => walk(k, depth + 1, `${number}.${i + 1}`, i + 1, list.length, [...path, id]))
    }
    let roots = kids.get('') || []
    // with one query its branches are the rows: what it does as a whole stands above the tree
    if (roots.length === 1 && (kids.get(roots[0]) || []).length) { met.add(roots[0]); roots = kids.get(roots[0]) }
    roots.forEach((k, i) => walk(k, 0, String(i + 1), i + 1, roots.length, []))
    return rows
  }

  const Row = memo(function Row({ node, number, depth, pos, size, kids, folded, focusable, open, ticking, steer, again, fresh, act }) {
    const s = shape(node.state), tone = toneOf(node.state), word = wordOf(node.state), look = { planning: 'working', empty: 'queued', covered: 'tick' }[s] || s
    const live = running(node.state)
    const secs = (node.seconds || 0) + (ticking && live ? Math.max(0, ticking - node.at) / 1000 : 0)
    const waits = s === 'queued'
    return (
      <div role="treeitem" data-node={node.id} data-state={node.state} aria-level={depth + 1} aria-posinset={pos} aria-setsize={size} aria-expanded={kids ? !folded : undefined}
        tabIndex={focusable ? 0 : -1} className={`ds-nd ds-${tone}` + (fresh ? ' ds-new' : '')} style={{ '--d': depth }}>
        {depth ? <i className="ds-guides" /> : null}
        {Icon(React, look, 17, 'ds-fade')}
        <span className="ds-name" title={node.title}>{number ? <span className="ds-nn">{number} </span> : null}<bdi>{node.title}</bdi> </span>
        <span className="ds-line">
          <span><b>{word}.</b> {node.doing}</span>
          {kids && folded ? <span className="ds-kids">{plural(kids, 'branch', 'branches')} folded</span> : null}
          {steer && number && (live || waits) ? (
            <span className="ds-acts">
              {live ? <button type="button" className="ds-act" tabIndex={focusable ? 0 : -1} aria-label={`Finish branch ${number} now`} onClick={() => act('finish', node.id)}>{Icon(React, 'flag', 13)}Finish now</button> : null}
              <button type="button" className="ds-act" tabIndex={focusable ? 0 : -1} aria-label={`Stop branch ${number}`} onClick={() => act('ask', node.id)}>{Icon(React, 'square', 13)}Stop branch</button>
            </span>
          ) : steer && again && number && (s === 'failed' || s === 'stopped') ? (
            <span className="ds-acts">
              <button type="button" className="ds-act" tabIndex={focusable ? 0 : -1} aria-label={`Try branch ${number} again`} onClick={() => act('retry', node.id)}>{Icon(React, 'retrying', 13)}Try again</button>
            </span>
          ) : null}
        </span>
        {waits ? null : (
          <>
            <span className="ds-c ds-c1">{node.sources ?? 0}<span className="ds-sr"> sources</span></span>
            <span className="ds-c ds-c2">{node.facts || '–'}<span className="ds-sr"> facts</span></span>
            <span className="ds-c ds-c3">{money(node.cost_usd || 0)}</span>
            <span className="ds-c ds-time">{clock(secs)}</span>
          </>
        )}
        {open ? (
          <div className="ds-more">
            {String(node.doing || '').length > 60 ? <p>{node.doing}</p> : null}
            {node.role ? <span>{node.role}</span> : null}<span>{plural(node.sources || 0, 'source')}</span><span>{plural(node.facts || 0, 'fact')}</span><span>{count(node.tokens)} tokens</span><span>{money(node.cost_usd || 0)}</span>
          </div>
        ) : null}
      </div>
    )
  })

  function Tree({ job, steer, act, ticking }) {
    const box = useRef(null)
    const [folded, setFolded] = useState(() => new Set())
    const [open, setOpen] = useState('')
    const [here, setHere] = useState('')
    const [hover, setHover] = useState('')
    const [asked, setAsked] = useState('')
    const first = useRef(true), known = useRef(new Set())
    const all = useMemo(() => order(job.nodes), [job.shape])
    let rows = all.filter((r) => job.nodes.has(r.id) && !r.path.some((p) => folded.has(p)))
    // a new row never pushes the row under the pointer: until it leaves, rows new above it stay back
    if (hover) {
      const at = rows.findIndex((r) => r.id === hover)
      rows = rows.filter((r, i) => i > at || known.current.has(r.id))
    }
    const fresh = new Set(first.current ? [] : rows.filter((r) => !known.current.has(r.id)).map((r) => r.id))
    useEffect(() => { first.current = false; for (const r of rows) known.current.add(r.id) })
    const current = rows.some((r) => r.id === here) ? here : rows.length ? rows[0].id : ''
    const doing = useCallback((op, id) => { if (op === 'ask') setAsked(id); else act(op, id) }, [act])
    const stopIt = (op) => { const id = asked; setAsked(''); act(op, id) }

    const focus = (row) => { if (!row) return; setHere(row.id); const el = box.current.querySelector(`[data-node="${CSS.escape(String(row.id))}"]`); if (el) { el.tabIndex = 0; el.focus() } }
    const fold = (id, shut) => setFolded((old) => { const s = new Set(old); if (shut) s.add(id); else s.delete(id); return s })
    const idOf = (e) => { const el = e.target.closest && e.target.closest('[data-node]'); return el ? el.getAttribute('data-node') : '' }
    const rowOf = (e) => { const id = idOf(e); return rows.find((r) => String(r.id) === id) }
    const onKey = (e) => {
      if (e.altKey || e.ctrlKey || e.metaKey || !(e.target.getAttribute && e.target.getAttribute('role') === 'treeitem')) return
      const row = rowOf(e); if (!row) return
      const i = rows.indexOf(row), k = e.key
      if (asked && k !== 's' && k !== 'S') setAsked('') // any other key takes the question back
      if (k === 'ArrowDown') focus(rows[i + 1])
      else if (k === 'ArrowUp') focus(rows[i - 1])
      else if (k === 'Home') focus(rows[0])
      else if (k === 'End') focus(rows[rows.length - 1])
      else if (k === 'ArrowRight') { if (!row.kids) return; if (folded.has(row.id)) fold(row.id, false); else focus(rows[i + 1]) }
      else if (k === 'ArrowLeft') { if (row.kids && !folded.has(row.id)) fold(row.id, true); else if (row.path.length) focus(rows.find((r) => r.id === row.path[row.path.length - 1])); else return }
      else if (k === 'Enter') setOpen(open === row.id ? '' : row.id)
      else if (k === ' ' && row.kids) fold(row.id, !folded.has(row.id))
      else if (steer && (k === 'f' || k === 'F')) act('finish', row.id)
      else if (steer && (k === 's' || k === 'S')) { if (asked === row.id) { stopIt('stop') } else setAsked(row.id) }
      else if (steer && job.stage === 'collecting' && (k === 'r' || k === 'R') && ['failed', 'stopped'].includes(shape((job.nodes.get(row.id) || {}).state))) act('retry', row.id)
      else return
      e.preventDefault()
    }
    const onClick = (e) => {
      if (e.target.closest('button')) return
      const row = rowOf(e); if (!row) return
      setHere(row.id)
      if (row.kids && e.target.closest('.ds-nd > .ds-icon')) fold(row.id, !folded.has(row.id))
      else if (!window.getSelection || String(window.getSelection()) === '') setOpen(open === row.id ? '' : row.id)
    }
    const askedRow = asked && rows.find((r) => r.id === asked && running((job.nodes.get(r.id) || {}).state || ''))
    return (
      <div>
        <div className="ds-live" ref={box}
          onPointerOver={(e) => { if (e.pointerType === 'mouse') { const r = rowOf(e); if (r && r.id !== hover) setHover(r.id) } }}
          onPointerLeave={() => setHover('')}>
          <div className="ds-lhead" aria-hidden="true"><span /><span /><span>src</span><span>facts</span><span>cost</span><span>time</span></div>
          <div role="tree" aria-label="Research tree" onKeyDown={onKey} onClick={onClick} onFocus={(e) => { const r = rowOf(e); if (r && r.id !== here) setHere(r.id) }}>
            {rows.map((r) => {
              const node = job.nodes.get(r.id)
              return <Row key={r.id} node={node} number={r.number} depth={r.depth} pos={r.pos} size={r.size} kids={r.kids} folded={folded.has(r.id)} focusable={r.id === current}
                open={open === r.id} ticking={running(node.state) ? ticking : 0} steer={steer} again={job.stage === 'collecting'} fresh={fresh.has(r.id)} act={doing} />
            })}
          </div>
        </div>
        {askedRow ? (
          <div className="ds-note ds-caution ds-asked" role="alert">{Icon(React, 'square', 15)}
            <span>Stop branch {askedRow.number}? What it has found is kept, and the report says where it stopped; <i>Drop it</i> leaves that out. The others go on.</span>
            <span className="ds-row"><button type="button" className="ds-btn ds-warn" onClick={() => stopIt('stop')}>Stop it</button><button type="button" className="ds-btn" onClick={() => stopIt('drop')}>Drop it</button><button type="button" className="ds-btn" onClick={() => setAsked('')}>Let it go on</button></span>
          </div>
        ) : null}
      </div>
    )
  }

  function Feed({ feed }) {
    const list = useRef(null)
    const [shown, setShown] = useState(feed)
    const [atTop, setAtTop] = useState(true)
    const [said, setSaid] = useState('')
    const latest = useRef(feed); latest.current = feed
    const spokenAt = useRef(0), pending = useRef(0)
    useEffect(() => { if (atTop) setShown(feed) }, [feed, atTop])
    const top = feed.length ? feed[0].key : ''
    useEffect(() => { // a screen reader hears one message per 5 seconds at most
      if (!top || pending.current) return undefined
      const hold = Math.max(0, 5000 - (Date.now() - spokenAt.current))
      pending.current = setTimeout(() => { pending.current = 0; spokenAt.current = Date.now(); const f = latest.current[0]; setSaid(f ? f.text : '') }, hold)
      return undefined
    }, [top])
    useEffect(() => () => clearTimeout(pending.current), [])
    const newest = shown.length ? feed.findIndex((f) => f.key === shown[0].key) : 0
    const newer = atTop ? 0 : newest < 0 ? feed.length : newest
    return (
      <div className="ds-feed">
        <h3 className="ds-label">Activity</h3>
        {newer ? <button type="button" className="ds-btn ds-newer" onClick={() => { setAtTop(true); setShown(feed); if (list.current) list.current.scrollTop = 0 }}>{newer} newer</button> : null}
        <ol ref={list} tabIndex={0} aria-label="Activity, newest first" onScroll={(e) => setAtTop(e.currentTarget.scrollTop < 8)}>
          {shown.length ? shown.map((f) => <li key={f.key}><time>{clock(f.seconds)}</time><span dir="auto">{f.text}</span></li>) : <li><time /><span className="ds-dim">Nothing yet. First sources should appear within half a minute.</span></li>}
        </ol>
        <div className="ds-sr" aria-live="polite">{said}</div>
      </div>
    )
  }

  function Now({ text, over }) {
    // the line keeps the height of the longest it has shown, so that a new one moves nothing below it
    const line = useRef(null)
    const [lines, setLines] = useState(1)
    useLayoutEffect(() => {
      const need = line.current ? Math.min(3, Math.round(line.current.scrollHeight / 21)) : 1
      if (!over && need > lines) setLines(need)
    }, [text, over])
    return <p ref={line} className="ds-now" style={over ? undefined : { minHeight: lines * 21 }} dir="auto" title={over ? undefined : text}>{over ? text : <><b>Now:</b> {text || <span className="ds-dim">starting. First sources should appear within half a minute.</span>}</>}</p>
  }

  function Stages({ stage }) {
    const key = String(stage || '').toLowerCase()
    const at = key in STAGE_OF ? STAGE_OF[key] : -1
    if (at < 0 && !stage) return null
    return (
      <>
        <ol className="ds-stages" aria-label="Stages">
          {STAGES.map((name, i) => <li key={name} aria-current={i === at ? 'step' : undefined}>{i < at ? Icon(React, 'tick', 12) : null}{name}</li>)}
        </ol>
        <span className="ds-stage-short ds-narrow-only">{at >= 0 && at < 5 ? `Stage ${at + 1} of 5: ${STAGES[at].toLowerCase()}` : String(stage)}</span>
      </>
    )
  }

  function Budget({ job, p, seconds }) {
    const minutes = job.minutes ?? p.minutes, reserve = job.reserve_s ?? p.reserve_s ?? 0
    const total = minutes ? minutes * 60 : 0
    const cap = job.max_cost_usd ?? p.max_cost_usd ?? p.cost_usd
    const used = job.usage || {}
    const share = (v, of) => Math.min(100, Math.max(0, (100 * v) / of)) + '%'
    return (
      <div className="ds-bud">
        <div>
          <div className="ds-lab"><span><b>{clock(seconds)}</b>{total ? ` of ${minutes} min` : ' so far, no time limit'}</span>{total && reserve ? <span>last {clock(reserve)} kept for writing</span> : null}</div>
          {total ? <div className="ds-meter" role="meter" aria-label="Time" aria-valuemin={0} aria-valuemax={total} aria-valuenow={Math.min(total, Math.round(seconds))} aria-valuetext={`${spoken(seconds)} of ${minutes}${reserve ? `, last ${spoken(reserve)} kept for writing` : ''}`}><i style={{ width: share(seconds, total) }} />{reserve ? <u style={{ width: share(reserve, total) }} /> : null}</div> : null}
        </div>
        <div>
          <div className="ds-lab"><span><b>{money(used.cost_usd || 0)}</b>{cap ? ` of ${money(cap)}` : ' spent'}</span><span>{p.forecast_cost ? `forecast ${p.forecast_cost}` : `${count(used.tokens)} tokens`}</span></div>
          {cap ? <div className="ds-meter" role="meter" aria-label="Cost" aria-valuemin={0} aria-valuemax={cap} aria-valuenow={Math.min(cap, used.cost_usd || 0)} aria-valuetext={`${money(used.cost_usd || 0)} of ${money(cap)}`}><i style={{ width: share(used.cost_usd || 0, cap) }} /></div> : null}
        </div>
      </div>
    )
  }

  function Controls({ id, url, ended, job, note, again }) {
    const [ask, setAsk] = useState(false)
    const [sent, setSent] = useState('')
    const [error, setError] = useState('')
    const yes = useRef(null), stopper = useRef(null)
    useEffect(() => { if (ask && yes.current) yes.current.focus() }, [ask])
    const post = async (what) => {
      setAsk(false); setSent(what); setError('')
      try {
        const r = await fetch(url(`/research/jobs/${encodeURIComponent(id)}/${what}`), { method: 'POST', credentials: 'include' })
        if (!r.ok) throw new Error(r.status === 404 ? 'This run is no longer on the server.' : r.status === 409 ? 'The run is already ending.' : `The server refused (${r.status}).`)
      } catch (e) { setSent(''); setError(e instanceof TypeError ? 'The server did not answer. Nothing was changed.' : e.message) }
    }
    if (ended) return null
    return (
      <div className="ds-controls">
        {ask ? (
          <span role="group" aria-label="Stop the run?" className="ds-row" onKeyDown={(e) => { if (e.key === 'Escape') { setAsk(false); setTimeout(() => stopper.current && stopper.current.focus()) } }}>
            <span>Stop the run? What was found so far is kept.</span>
            <button type="button" ref={yes} className="ds-btn ds-warn" onClick={() => post('cancel')}>{Icon(React, 'square', 13)}Stop run</button>
            <button type="button" className="ds-btn" onClick={() => setAsk(false)}>Keep going</button>
          </span>
        ) : sent === 'cancel' ? <span role="status" className="ds-dim">Stopping. Paid calls end within seconds.</span>
          : (
          <>
            <button type="button" ref={stopper} className="ds-btn" onClick={() => setAsk(true)}>{Icon(React, 'square', 13)}Stop run</button>
            {sent === 'finish' ? <span role="status" className="ds-dim">Finishing now: no new searches, writing from what there is.</span>
              : <button type="button" className="ds-btn" onClick={() => post('finish')}>{Icon(React, 'flag', 13)}Finish now</button>}
          </>
        )}
        {error || note ? <span role="alert" style={{ color: 'var(--ds-bad)' }}>{error || note}</span> : null}
        {job.link === 'lost' ? <p className="ds-note ds-caution" role="status">{Icon(React, 'retrying', 15)}<span><b>Reconnecting.</b> The run is not affected by this page. <button type="button" className="ds-link" onClick={again}>Try now</button></span></p>
          : job.missed ? <p className="ds-note ds-info" role="status">{Icon(React, 'retrying', 15)}<span><b>Reconnected.</b> You missed {job.missed >= 60 ? `${Math.floor(job.missed / 60)} min ` : ''}{job.missed % 60} s. The run was not affected.</span></p> : null}
      </div>
    )
  }

  const queries = (job) => [...job.nodes.values()].filter((n) => n.role === 'query').length

  function summary(job) {
    const n = { done: 0, partial: 0, failed: 0, stopped: 0, empty: 0 }
    const leaves = [...job.nodes.values()].filter((x) => x.role === 'leaf' && x.n)
    for (const x of leaves) { const s = shape(x.state); if (s in n) n[s] += 1 }
    const all = leaves.length
    const tail = [`${n.done + n.partial} of ${plural(all, 'branch', 'branches')} delivered`, n.empty ? `${n.empty} found nothing` : '', n.failed ? `${n.failed} failed` : '', n.stopped ? `${n.stopped} stopped` : ''].filter(Boolean).join(', ')
    const s = job.status
    if (/stop|cancel/.test(s)) return ['stopped', 'quiet', `Stopped at ${clock(job.seconds)}.`, tail]
    if (/fail|error|interrupt/.test(s)) return ['failed', 'bad', /interrupt/.test(s) ? 'The run was interrupted.' : 'The run failed.', tail]
    if (s === 'nothing_found') return ['queued', 'quiet', 'Run ended.', 'Nothing was found that answers this']
    return s === 'partial' || s === 'blocked' || n.failed || n.stopped || n.partial ? ['partial', 'caution', 'Run ended.', tail] : ['done', 'good', 'Run ended.', tail]
  }

  return function ResearchRun({ p, apiClient, callAction }) {
    const id = p.job_id
    const url = useCallback((path) => (apiClient && apiClient.buildEndpoint ? apiClient.buildEndpoint(path) : path), [apiClient])
    const [job, setJob] = useState(null)
    const [tick, setTick] = useState(() => Date.now())
    const [show, setShow] = useState(false)
    const [note, setNote] = useState('')
    const feeder = useRef(null)
    useEffect(() => { feeder.current = watch(id, url, setJob); return () => feeder.current.stop() }, [id])
    const over = !!job && ended(job)
    const live = !!job && !over && job.status !== 'blocked' && job.link === 'live'
    useEffect(() => {
      if (!live) return undefined
      const t = setInterval(() => { if (!document.hidden) setTick(Date.now()) }, 1000)
      return () => clearInterval(t)
    }, [live])
    const act = useCallback(async (op, node) => {
      setNote('')
      try {
        const path = String(node).split('/').map(encodeURIComponent).join('/')
        const r = await fetch(url(`/research/jobs/${encodeURIComponent(id)}/nodes/${path}/${op}`), { method: 'POST', credentials: 'include' })
        if (!r.ok) { const said = await r.json().catch(() => ({})); setNote((said.error && said.error.message) || `The server refused (${r.status}). The branch goes on as before.`) }
      } catch (e) { setNote('That did not reach the server. The branch goes on as before.') }
    }, [id, url])

    if (!job || job.link === 'first') return <div className="ds ds-past ds-quiet" role="status" data-job="opening">{Icon(React, 'queued', 17)}<span>{job ? 'Reconnecting. The run itself goes on.' : 'Opening the run.'}</span></div>
    if (job.link === 'gone') return <div className="ds ds-past ds-quiet" data-job="gone">{Icon(React, 'stopped', 17)}<span>This run is no longer on the server.</span></div>
    if (job.link === 'denied') return <div className="ds ds-past ds-quiet" data-job="denied">{Icon(React, 'stopped', 17)}<span>You are not signed in, or this run belongs to somebody else.</span></div>

    const seconds = job.seconds + (live ? Math.max(0, Date.now() - job.at) / 1000 : 0)
    if (over && !show) {
      const [icon, tone, head, tail] = summary(job)
      return (
        <div className={`ds ds-past ds-${tone}`} data-job={job.status}>
          {Icon(React, icon, 17)}<span><b>{head}</b> {tail}. <button type="button" className="ds-link" aria-expanded="false" onClick={() => setShow(true)}>Show tree</button></span>
        </div>
      )
    }
    return (
      <article className="ds ds-card ds-run" aria-label="Live research" data-job={job.status} data-link={job.link}>
        <header>
          <div className="ds-row">
            <h2 className="ds-title ds-clip" dir="auto" title={p.title || job.title || ''}>{queries(job) > 1 ? `Researching ${queries(job)} queries` : p.title || job.title || 'Research'}</h2>
            <span className="ds-grow" />
            {over ? <button type="button" className="ds-link" aria-expanded="true" onClick={() => setShow(false)}>Hide tree</button> : <Stages stage={job.stage} />}
          </div>
          <Now over={over} text={over ? summary(job).slice(2).join(' ') + '.' : job.now} />
          <Budget job={job} p={p} seconds={seconds} />
          <Controls id={id} url={url} ended={over} job={job} note={note} again={() => feeder.current.again()} />
        </header>
        <div className="ds-lv">
          <Tree job={job} steer={p.steer === true && !over} act={act} ticking={live ? tick : 0} />
          <Feed feed={job.feed} />
        </div>
      </article>
    )
  }
})()

const ResearchRun = parts.ResearchRun
export default <ResearchRun p={props} apiClient={apiClient} callAction={callAction} />
