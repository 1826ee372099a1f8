// The contract: queries with verdicts, the draft tree, the forecast with its basis, the limits. It has no start button.
// Only the typed phrase begins a run.
import { useEffect, useId, useRef, useState } from 'react';

const parts = (globalThis.dossierParts = globalThis.dossierParts || {});

parts.ContractCard =
  parts.ContractCard ||
  (function () {
    const { Icon, plural, speak, t } = globalThis.dossier;
    const has = (v) => v !== null && v !== undefined && v !== '' && !(Array.isArray(v) && !v.length);
    const words = (v) => (Array.isArray(v) ? v.filter(has).join(', ') : String(v));

    /** The tree as rows, in order; folded branches leave their children out. */
    function flatten(nodes, folded, depth, path, out) {
      const list = nodes || [];
      list.forEach((node, i) => {
        const at = [...path, i],
          key = at.join('.');
        const kids = node.children || [];
        out.push({ node, key, path: at, depth, kids: kids.length, pos: i + 1, size: list.length });
        if (kids.length && !folded.has(key)) flatten(kids, folded, depth + 1, at, out);
      });
      return out;
    }
    function Tree({ trees, editable, edit }) {
      const [folded, setFolded] = useState(() => new Set());
      const [here, setHere] = useState('0');
      const [renaming, setRenaming] = useState('');
      const [adding, setAdding] = useState('');
      const box = useRef(null),
        base = useId();
      const wanted = useRef('');
      // with one query its own branches are the rows: its text stands right above
      const lone = trees.length === 1 && (trees[0].children || []).length;
      const rows = lone ? flatten(trees[0].children, folded, 0, [0], []) : flatten(trees, folded, 0, [], []);
      const current = rows.some((r) => r.key === here) ? here : rows.length ? rows[0].key : '';
      useEffect(() => {
        if (!wanted.current) return;
        const el = box.current && box.current.querySelector(`[data-key="${wanted.current}"]`);
        wanted.current = '';
        if (el) el.focus();
      });
      const go = (row) => {
        if (row) {
          wanted.current = row.key;
          setHere(row.key);
        }
      };
      const fold = (row, shut) =>
        setFolded((old) => {
          const s = new Set(old);
          if (shut) s.add(row.key);
          else s.delete(row.key);
          return s;
        });
      const onKey = (e, row, i) => {
        if (e.target !== e.currentTarget) return;
        const { key } = e;
        const parent = row.path.length > 1 ? rows.find((r) => r.key === row.path.slice(0, -1).join('.')) : null;
        if (editable && e.altKey && (key === 'ArrowUp' || key === 'ArrowDown'))
          edit(key === 'ArrowUp' ? 'up' : 'down', row);
        else if (e.altKey || e.ctrlKey || e.metaKey) return;
        else if (key === 'ArrowDown') go(rows[i + 1]);
        else if (key === 'ArrowUp') go(rows[i - 1]);
        else if (key === 'Home') go(rows[0]);
        else if (key === 'End') go(rows[rows.length - 1]);
        else if (key === 'ArrowRight') {
          if (!row.kids) return;
          if (folded.has(row.key)) fold(row, false);
          else go(rows[i + 1]);
        } else if (key === 'ArrowLeft') {
          if (row.kids && !folded.has(row.key)) fold(row, true);
          else if (parent) go(parent);
          else return;
        } else if ((key === 'Enter' || key === ' ') && row.kids) fold(row, !folded.has(row.key));
        else if (editable && key === 'F2') setRenaming(row.key);
        else if (editable && key === 'Delete') edit('drop', row);
        else return;
        e.preventDefault();
      };
      const rename = (row, text) => {
        setRenaming('');
        wanted.current = row.key;
        if (text.trim() && text.trim() !== row.node.title) edit('rename', row, text.trim());
      };
      return (
        <div className="ds-tree" role="tree" aria-label={t('Plan')} ref={box}>
          {rows.map((row, i) => {
            const { node, key } = row;
            const leaf = node.kind === 'leaf';
            const shut = folded.has(key);
            const end = node.note || (leaf ? '' : '');
            const focusable = key === current;
            return (
              <div
                key={key}
                data-key={key}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-posinset={row.pos}
                aria-setsize={row.size}
                aria-expanded={row.kids ? !shut : undefined}
                aria-labelledby={`${base}n${key} ${base}t${key} ${base}k${key} ${base}e${key}`}
                tabIndex={focusable ? 0 : -1}
                className={'ds-tr' + (leaf ? '' : ' ds-branch')}
                style={{ '--d': row.depth }}
                onKeyDown={(e) => onKey(e, row, i)}
                onFocus={() => key !== here && setHere(key)}
              >
                {row.depth ? <i className="ds-guides" /> : null}
                {row.kids ? (
                  <span className="ds-fold" aria-hidden="true" onClick={() => fold(row, !shut)}>
                    {Icon(React, shut ? 'right' : 'down', 15)}
                  </span>
                ) : (
                  <span className="ds-fold" aria-hidden="true" style={{ cursor: 'default' }}>
                    {Icon(React, leaf ? 'searching' : 'working', 15)}
                  </span>
                )}
                <span className="ds-nn" id={`${base}n${key}`}>
                  {node.n}{' '}
                </span>
                {renaming === key ? (
                  <input
                    className="ds-edit"
                    autoFocus
                    onFocus={(e) => e.target.select()}
                    defaultValue={node.title}
                    aria-label={t('New name for {part}', { part: `${node.n} ${node.title}` })}
                    onBlur={(e) => rename(row, e.target.value)}
                    onKeyDown={(e) => {
                      e.stopPropagation();
                      if (e.key === 'Enter') e.target.blur();
                      if (e.key === 'Escape') {
                        e.target.value = node.title;
                        e.target.blur();
                      }
                    }}
                  />
                ) : (
                  <span className="ds-name" dir="auto" id={`${base}t${key}`}>
                    {node.title}{' '}
                  </span>
                )}
                {shut ? (
                  <span className="ds-small" id={`${base}k${key}`} style={{ color: 'var(--ds-t3)' }}>
                    {plural(row.kids, 'part')}{' '}
                  </span>
                ) : null}
                {end ? (
                  <span className="ds-end" id={`${base}e${key}`} title={node.detail || undefined}>
                    {end}
                  </span>
                ) : null}
                {editable && renaming !== key ? (
                  <span
                    className="ds-tools"
                    role="group"
                    aria-label={t('Edit {part}', { part: `${node.n} ${node.title}` })}
                  >
                    {tools(row, trees.length).map(([op, icon, title, off]) => (
                      <button
                        key={op}
                        type="button"
                        className="ds-tool"
                        title={title}
                        aria-label={`${title} ${node.n}`.trim()}
                        disabled={off}
                        tabIndex={focusable ? 0 : -1}
                        onClick={() =>
                          op === 'rename'
                            ? setRenaming(key)
                            : op === 'add'
                              ? setAdding(adding === key ? '' : key)
                              : edit(op, row)
                        }
                      >
                        {Icon(React, icon, 15)}
                      </button>
                    ))}
                  </span>
                ) : null}
                {adding === key ? (
                  <Words
                    label={t('Question of a new part in {part}', { part: node.title })}
                    hint={t('What should the new part find out?')}
                    cls="ds-edit ds-edit-below"
                    done={(text) => {
                      setAdding('');
                      wanted.current = key;
                      if (text) edit('add', row, text);
                    }}
                  />
                ) : null}
              </div>
            );
          })}
        </div>
      );
    }
    /** What a row offers: a whole query keeps its place and its words. */
    const tools = (row, trees) => {
      const whole = row.path.length === 1,
        branch = row.node.kind !== 'leaf';
      return [
        ...(branch ? [['add', 'plus', t('Add a part in'), false]] : []),
        ...(whole
          ? []
          : [
              ['up', 'moveup', t('Move up'), row.pos === 1],
              ['down', 'movedown', t('Move down'), row.pos === row.size],
              ['rename', 'writing', t('Rename'), false],
            ]),
        ['drop', 'drop', t('Drop'), whole && trees === 1],
      ];
    };

    /** One line to type in: Enter or leaving it takes it, Escape leaves things as they were. */
    function Words({ label, hint, start = '', cls = 'ds-edit', type = 'text', done }) {
      const over = useRef(false);
      const end = (text) => {
        if (over.current) return;
        over.current = true;
        done(text.trim());
      };
      return (
        <input
          className={cls}
          type={type}
          autoFocus
          defaultValue={start}
          aria-label={label}
          placeholder={hint}
          maxLength={200}
          onFocus={(e) => e.target.select()}
          onBlur={(e) => end(e.target.value)}
          onKeyDown={(e) => {
            e.stopPropagation();
            if (e.key === 'Enter') {
              e.preventDefault();
              end(e.target.value);
            }
            if (e.key === 'Escape') end('');
          }}
        />
      );
    }

    function Add({ edit }) {
      const [open, setOpen] = useState(false);
      return open ? (
        <Words
          label={t('Question of the new part')}
          hint={t('What should the new part find out?')}
          cls="ds-edit ds-edit-wide"
          done={(text) => {
            setOpen(false);
            if (text) edit('add', { path: [0], node: {} }, text);
          }}
        />
      ) : (
        <button type="button" className="ds-btn ds-add" onClick={() => setOpen(true)}>
          {Icon(React, 'plus', 14)}
          {t('Add a part')}
        </button>
      );
    }

    /** A figure that can be changed where it stands. */
    function Term({ shown, label, hint, start, words, say, editable, type }) {
      const [open, setOpen] = useState(false);
      if (!editable) return shown;
      if (open)
        return (
          <Words
            label={label}
            hint={hint}
            start={start}
            type={type}
            cls="ds-edit ds-edit-term"
            done={(text) => {
              setOpen(false);
              if (text && text !== String(start)) say(words(text));
            }}
          />
        );
      return (
        <button
          type="button"
          className="ds-term"
          title={label}
          aria-label={`${label}: ${typeof shown === 'string' ? shown : start}`}
          onClick={() => setOpen(true)}
        >
          {shown}
        </button>
      );
    }
    const domain = (text) =>
      text
        .toLowerCase()
        .replace(/^[a-z]+:\/\//, '')
        .replace(/\/.*$/, '')
        .trim();
    const asMinutes = (text) =>
      /^(no|none|unlimited|∞)/i.test(text) ? 'unlimited time' : `${text.replace(/[^\d.,]/g, '')} minutes`;
    const asDates = (text) =>
      /^(any|all|none|open)$/i.test(text)
        ? 'any date'
        : /^\d{4}$/.test(text)
          ? `${text}-${text}`
          : text.replace(/\s*[–—]\s*/g, '-');

    function Limits({ p, editable, say }) {
      const caps = p.caps || {};
      const rows = [];
      const minutes = has(caps.minutes) ? t('{n} min', { n: caps.minutes }) : t('no time limit');
      const others = [
        has(caps.cost_usd) && !p.cost_unheld ? `$${Number(caps.cost_usd).toFixed(2)}` : '',
        has(caps.sources) ? plural(caps.sources, 'source') : '',
        has(caps.searches) ? plural(caps.searches, 'search', 'searches') : '',
      ].filter(has);
      rows.push([
        t('Stop at'),
        <span className="ds-num" key="s">
          <Term
            shown={minutes}
            label={t('Minutes, or unlimited')}
            hint={t('minutes')}
            start={has(caps.minutes) ? caps.minutes : ''}
            words={asMinutes}
            say={say}
            editable={editable}
          />
          {others.map((s) => (
            <React.Fragment key={s}>
              <span className="ds-dim"> · </span>
              {s}
            </React.Fragment>
          ))}
        </span>,
      ]);
      const other = p.mode === 'deep' ? 'standard' : 'deep';
      rows.push([
        t('Rounds'),
        <span key="r">
          {has(caps.rounds) ? t('up to {n}', { n: caps.rounds }) : ''}
          {has(p.mode) ? <span className="ds-dim"> ({t(p.mode)})</span> : null}
          {editable && has(p.mode) ? (
            <>
              {' '}
              <button type="button" className="ds-link ds-small" onClick={() => say(other)}>
                {t(other === 'deep' ? 'Make it deep' : 'Make it standard')}
              </button>
            </>
          ) : null}
        </span>,
      ]);
      if (editable || has(p.domains) || has(p.exclude_domains))
        rows.push([t('Domains'), <Domains key="d" p={p} editable={editable} say={say} />]);
      if (editable || has(p.dates))
        rows.push([
          t('Dates'),
          <Term
            key="t"
            shown={has(p.dates) ? words(p.dates) : t('any')}
            label={t('Years: 2015-2024, since 2020, or any')}
            hint={t('2015-2024, since 2020, any')}
            start={has(p.dates) ? words(p.dates) : ''}
            words={asDates}
            say={say}
            editable={editable}
          />,
        ]);
      const bound = [
        [t('Kind'), p.kind],
        [t('Agreed'), p.agreed],
        [t('Assumed'), p.assumed],
      ].filter(([, said]) => has(said));
      bound.forEach(([name, said]) =>
        rows.push([
          name,
          <span key={name} dir="auto">
            {[].concat(said).join('; ')}
          </span>,
        ]),
      );
      if (has(p.language))
        rows.push([
          t('Language'),
          editable && has(p.languages) ? (
            <select
              key="l"
              className="ds-select"
              aria-label={t('Language of the report')}
              value={p.language}
              onChange={(e) => say(`in ${e.target.value}`)}
            >
              {[...new Set([p.language, ...p.languages])].map((name) => (
                <option key={name} value={name}>
                  {t(name)}
                </option>
              ))}
            </select>
          ) : (
            t(words(p.language))
          ),
        ]);
      if (has(p.models))
        rows.push([
          t('Models'),
          (Array.isArray(p.models) ? p.models : [p.models]).map((m, i) => (
            <span key={i}>
              {i ? <span className="ds-dim"> · </span> : null}
              {t(m)}
            </span>
          )),
        ]);
      if (has(p.retrievers)) rows.push([t('Searches in'), words(p.retrievers)]);
      if (typeof p.memory === 'boolean')
        rows.push([
          t('Memory'),
          <span key="e">
            {t(p.memory ? 'is asked first' : 'is not used')}
            {editable ? (
              <>
                {' '}
                <button
                  type="button"
                  className="ds-link ds-small"
                  onClick={() => say(p.memory ? 'without memory' : 'use memory')}
                >
                  {t(p.memory ? 'Leave it out' : 'Use it')}
                </button>
              </>
            ) : null}
          </span>,
        ]);
      if (has(p.files)) rows.push([t('Your files'), <Files key="f" files={p.files} editable={editable} say={say} />]);
      return (
        <dl className="ds-set">
          {rows.map(([k, v]) => (
            <React.Fragment key={k}>
              <dt>{k}</dt>
              <dd>{v}</dd>
            </React.Fragment>
          ))}
        </dl>
      );
    }

    /** The user's own files, each with a way out of the draft. */
    function Files({ files, editable, say }) {
      return (
        <ul className="ds-files">
          {files.map((file, i) => (
            <li key={file.name}>
              <span className="ds-file" dir="auto">
                {file.name}
              </span>{' '}
              <span className="ds-file-end">
                {has(file.note) ? <span className="ds-dim ds-small">{file.note} </span> : null}
                {editable ? (
                  <button
                    type="button"
                    className="ds-x"
                    aria-label={t('Leave out: {name}', { name: file.name })}
                    onClick={() => say(`drop file ${i + 1}`)}
                  >
                    {Icon(React, 'close', 11)}
                  </button>
                ) : null}
              </span>
            </li>
          ))}
        </ul>
      );
    }

    function Domains({ p, editable, say }) {
      const [open, setOpen] = useState('');
      const chip = (kind, name) => (
        <span key={kind + name}>
          {t(kind)} {name}
          {editable ? (
            <button
              type="button"
              className="ds-x"
              aria-label={t('Take back: {name}', { name: `${t(kind)} ${name}` })}
              onClick={() => say(`allow domain ${name}`)}
            >
              {Icon(React, 'close', 11)}
            </button>
          ) : null}
        </span>
      );
      return (
        <span className="ds-chips">
          {(p.domains || []).map((d) => chip('only', d))}
          {(p.exclude_domains || []).map((d) => chip('never', d))}
          {!editable ? null : open ? (
            <Words
              label={t(open === 'only' ? 'Only search this domain' : 'Never use this domain')}
              hint="example.org"
              cls="ds-edit ds-edit-term"
              done={(text) => {
                setOpen('');
                if (text) say(`${open === 'only' ? 'only' : 'exclude'} domain ${domain(text)}`);
              }}
            />
          ) : (
            <>
              {has(p.domains) || has(p.exclude_domains) ? null : <span className="ds-plainchip">{t('any')}</span>}
              {[
                ['only', 'Only'],
                ['never', 'Never'],
              ].map(([kind, name]) => (
                <button
                  key={kind}
                  type="button"
                  className="ds-chip-add"
                  aria-label={t(kind === 'only' ? 'Only search this domain' : 'Never use this domain')}
                  onClick={() => setOpen(kind)}
                >
                  {Icon(React, 'plus', 11)}
                  {t(name)}
                </button>
              ))}
            </>
          )}
        </span>
      );
    }

    const about = (figure) => (/^[$\d]/.test(figure) ? t('about {figure}', { figure }) : figure);
    /** Time and cost: one likely figure and a bound each. What is not known is called so. */
    function Likely({ p }) {
      const caps = p.caps || {};
      const minutes = has(caps.minutes)
        ? t('at most {bound}', { bound: plural(caps.minutes, 'minute') })
        : t('no time limit');
      const cost = has(caps.cost_usd)
        ? t('at most {bound}', { bound: `$${Number(caps.cost_usd).toFixed(2)}` })
        : t('no cost limit set');
      return (
        <dl className="ds-likely">
          <div>
            <dt>{t('Time')}</dt>
            <dd className="ds-likely-v">{has(p.likely_time) ? about(p.likely_time) : t('unknown')}</dd>
            <dd className="ds-dim">{minutes}</dd>
          </div>
          <div>
            <dt>{t('Cost')}</dt>
            <dd className="ds-likely-v">
              {p.likely_cost === 'free' ? t('free') : has(p.likely_cost) ? about(p.likely_cost) : t('unknown')}
            </dd>
            <dd className="ds-dim">{p.cost_unheld || (p.likely_cost === 'free' ? t('nothing is bought') : cost)}</dd>
          </div>
        </dl>
      );
    }

    return function ContractCard({ p, callAction }) {
      speak(p.lang);
      const queries = p.queries || [],
        trees = p.trees || [],
        forecast = p.forecast || [];
      const phrase = p.phrase || 'Authorized to execute';
      const state = p.state || 'draft',
        editable = state === 'draft';
      const [said, setSaid] = useState('');
      const [busy, setBusy] = useState(false);
      const [shown, setShown] = useState(false);
      const send = async (payload) => {
        setSaid('');
        setBusy(true);
        try {
          const answer = await callAction({ name: 'contract_edit', payload: { ...payload, hash: p.hash } });
          if (!answer || answer.success === false)
            setSaid(t('That change did not reach the server. Nothing was changed.'));
          else if (answer.response) setSaid(answer.response);
        } catch (e) {
          setSaid(t('That change did not reach the server. Nothing was changed.'));
        }
        setBusy(false);
      };
      const edit = (op, row, text) => send({ op, place: row.path, ...(text ? { text } : {}) });
      const say = (text) => send({ op: 'say', text });
      const short = [
        has(p.likely_time) ? about(p.likely_time) : '',
        has(p.likely_cost) ? t(p.likely_cost) : t('cost unknown'),
      ].filter(has);
      const hash = String(p.hash || '').replace(/\s/g, '');
      if (state === 'replaced' && !shown)
        return (
          <div className="ds ds-past ds-quiet" data-contract="replaced">
            {Icon(React, 'stopped', 17)}
            <span>
              <b>{t('Draft {n}', { n: p.draft })}.</b> {t('A later draft took its place.')}{' '}
              <button type="button" className="ds-link" aria-expanded="false" onClick={() => setShown(true)}>
                {t('Show')}
              </button>
            </span>
          </div>
        );
      const [tone, shape, word] =
        state === 'bound'
          ? ['good', 'done', t('Authorized')]
          : state === 'replaced'
            ? ['quiet', 'stopped', t('Replaced')]
            : ['good', 'tick', t('Ready to authorize')];
      return (
        <article
          className="ds ds-card ds-contract"
          aria-label={t('Contract') + (p.draft ? `, ${t('Draft {n}', { n: p.draft })}` : '')}
          aria-busy={busy}
          data-contract={state}
        >
          <header>
            <div className="ds-row">
              <h2 className="ds-title">{t('Contract')}</h2>
              {has(p.draft) ? <span className="ds-tag">{t('Draft {n}', { n: p.draft })}</span> : null}
              {hash ? (
                <span className="ds-mono ds-dim" title={hash}>
                  {hash.slice(0, 4)} {hash.slice(4, 8)}
                </span>
              ) : null}
              <span className="ds-grow" />
              {state === 'replaced' ? (
                <button type="button" className="ds-link ds-small" aria-expanded="true" onClick={() => setShown(false)}>
                  {t('Hide')}
                </button>
              ) : null}
              <span className={`ds-tag ds-${tone}`}>
                {Icon(React, shape, 13)}
                {word}
              </span>
            </div>
            {has(p.changed) || editable ? (
              <p className="ds-dim ds-changed" role="status" dir="auto">
                {!has(p.changed) && !p.undo
                  ? t('Change it here or by talking. Every change is a draft of its own.')
                  : null}
                {has(p.changed) ? `${t('Changed from draft {n}', { n: p.draft - 1 })}: ${p.changed.join('; ')}. ` : ''}
                {p.undo && editable ? (
                  <button type="button" className="ds-link" disabled={busy} onClick={() => send({ op: 'undo' })}>
                    {t('Undo')}
                  </button>
                ) : null}
              </p>
            ) : null}
            {short.length ? <p className="ds-sum ds-narrow-only">{short.join(' · ')}</p> : null}
            {has(p.sample) ? (
              <p className="ds-small ds-dim" style={{ marginTop: 4 }}>
                {p.sample}
              </p>
            ) : null}
          </header>
          <div className="ds-two" role="presentation">
            <div>
              {queries.map((q, i) => (
                <div className="ds-query" key={i}>
                  <span className="ds-n">{q.n ?? i + 1}</span>
                  <p className="ds-q" dir="auto">
                    {q.text}
                  </p>
                  <span className="ds-tag ds-good">
                    {Icon(React, 'tick', 13)}
                    {t('Ready')}
                  </span>
                  {q.reason ? (
                    <span className="ds-why" dir="auto">
                      {q.reason}
                    </span>
                  ) : null}
                </div>
              ))}
              {trees.length ? (
                <>
                  <div className="ds-row ds-rule">
                    <h3 className="ds-label">{t('Plan')}</h3>
                  </div>
                  <Tree trees={trees} editable={editable} edit={edit} />
                </>
              ) : null}
              {editable && trees.length === 1 ? <Add edit={edit} /> : null}
              {said ? (
                <p className="ds-note ds-bad" role="alert" style={{ marginTop: 8 }}>
                  {Icon(React, 'triangle', 15)}
                  {said}
                </p>
              ) : null}
            </div>
            <div>
              {forecast.length ? (
                <>
                  <h3 className="ds-label">{t('Forecast')}</h3>
                  <Likely p={p} />
                  <details className="ds-details">
                    <summary>
                      {t(forecast.some((f) => f.basis) ? 'All figures, and what they rest on' : 'All figures')}
                    </summary>
                    <table className="ds-fc">
                      <tbody>
                        {forecast.map((f) => (
                          <tr key={f.name}>
                            <th scope="row">{t(f.name)}</th>
                            <td className="ds-v">{f.value}</td>
                            <td className="ds-b">{f.basis}</td>
                          </tr>
                        ))}
                      </tbody>
                    </table>
                  </details>
                </>
              ) : null}
              <h3 className={'ds-label' + (forecast.length ? ' ds-rule' : '')}>{t('Limits and scope')}</h3>
              <Limits p={p} editable={editable} say={say} />
              {p.caution ? (
                <p className="ds-note ds-caution" style={{ marginTop: 12 }}>
                  {Icon(React, 'triangle', 15)}
                  <span>{p.caution}</span>
                </p>
              ) : null}
            </div>
          </div>
          {state === 'bound' ? (
            <footer className="ds-go ds-bound">
              <span>
                {Icon(React, 'tick', 15)}
                <span>
                  {t('Your phrase bound exactly this draft')}
                  {hash ? (
                    <>
                      ,{' '}
                      <span className="ds-mono">
                        {hash.slice(0, 4)} {hash.slice(4, 8)}
                      </span>
                    </>
                  ) : null}
                  .
                </span>
              </span>
              <span className="ds-dim">{t('What is changed afterwards is recorded with the run.')}</span>
            </footer>
          ) : state === 'replaced' ? null : (
            <footer className="ds-go">
              <span className="ds-big">
                {t('Type')} <kbd>{phrase}</kbd> {t('to begin.')}
              </span>
              <span className="ds-dim">{t('It binds exactly this draft. Later changes are recorded.')}</span>
            </footer>
          )}
        </article>
      );
    };
  })();

const ContractCard = parts.ContractCard;
export default <ContractCard p={props} callAction={callAction} />;
