// Verdicts on the queries as they stand, and narrower versions to choose from. Nothing starts here.
import { useId, useState } from 'react';

const parts = (globalThis.dossierParts = globalThis.dossierParts || {});

// Made once per page: the runner evaluates this file again whenever the chat's state changes, and a new function
// would be a new component that forgets what was ticked.
parts.ScopeCard =
  parts.ScopeCard ||
  (function () {
    const { Icon, plural } = globalThis.dossier;
    // What was ticked, by the choices: a message that gets another place in the page is mounted anew.
    const ticked = new Map();

    function Option({ n, text, on, disabled, set }) {
      const cut = text.indexOf(': ');
      const label = cut > 0 && cut <= 28 ? text.slice(0, cut) : '';
      return (
        <label className="ds-opt">
          <input type="checkbox" checked={on} disabled={disabled} onChange={(e) => set(text, e.target.checked)} />
          {Icon(React, 'tick', 14)}
          <span className="ds-optn" aria-hidden="true">
            {n}
          </span>
          <span dir="auto">
            {label ? <b>{label}</b> : null}
            {label ? text.slice(cut + 2) : text}
          </span>
        </label>
      );
    }

    return function ScopeCard({ p, callAction }) {
      const base = useId();
      const queries = p.queries || [];
      const key = queries.flatMap((q) => q.splits || []).join('\n');
      const [chosen, setChosen] = useState(() => ticked.get(key) || []);
      const [sent, setSent] = useState('');
      const disabled = !p.active || sent === 'sending' || sent === 'sent';
      // Numbered as they can be typed: in order, each once.
      const choices = [...new Set(queries.flatMap((q) => (q.feasible ? [] : q.splits || [])))];
      const picked = choices.filter((t) => chosen.includes(t));
      const set = (text, on) =>
        setChosen((now) => {
          const others = now.filter((t) => t !== text),
            next = on ? [...others, text] : others;
          ticked.set(key, next);
          return next;
        });
      const use = async () => {
        setSent('sending');
        try {
          const answer = await callAction({ name: 'pick_split', payload: { texts: picked } });
          const failed = answer && answer.success === false;
          if (!failed) ticked.delete(key);
          setSent(failed ? 'failed' : 'sent');
        } catch (e) {
          setSent('failed');
        }
      };
      const many = queries.length > 1;
      return (
        <div className="ds ds-scope" data-scope={p.active ? 'active' : 'past'}>
          {(p.open_questions || []).length ? (
            <ul className="ds-asks" aria-label="What leaves the question open">
              {p.open_questions.map((q, i) => (
                <li key={i} dir="auto">
                  {q}
                </li>
              ))}
            </ul>
          ) : null}
          {queries.map((q, i) => {
            const id = `${base}q${i}`;
            return (
              <section key={i}>
                <div className="ds-query">
                  <span className="ds-n">{q.n ?? i + 1}</span>
                  <p className="ds-q" id={id} dir="auto">
                    {q.text}
                  </p>
                  <span className={'ds-tag ' + (q.feasible ? 'ds-good' : 'ds-caution')}>
                    {Icon(React, q.feasible ? 'tick' : 'partial', 13)}
                    {q.feasible ? 'Ready' : 'Too broad'}
                  </span>
                  {q.reason ? (
                    <span className="ds-why" dir="auto">
                      {q.reason}
                    </span>
                  ) : null}
                </div>
                {(q.splits || []).length ? (
                  <div
                    className="ds-opts"
                    role="group"
                    aria-label={many ? `Narrower questions for question ${q.n ?? i + 1}` : 'Narrower questions'}
                  >
                    {q.splits.map((text) => (
                      <Option
                        key={text}
                        n={choices.indexOf(text) + 1}
                        text={text}
                        on={chosen.includes(text)}
                        disabled={disabled}
                        set={set}
                      />
                    ))}
                  </div>
                ) : null}
              </section>
            );
          })}
          {choices.length && (p.active || sent) ? (
            <div className="ds-row ds-scope-foot">
              <button type="button" className="ds-btn ds-pri" disabled={disabled || !picked.length} onClick={use}>
                Use these
              </button>
              <span className="ds-dim" role="status">
                {sent === 'failed'
                  ? 'That did not reach the server. Try again, or write it in the message box.'
                  : sent === 'sent'
                    ? `${plural(picked.length, 'question')} taken over.`
                    : sent === 'sending'
                      ? 'Drafting a plan from these.'
                      : picked.length
                        ? `${picked.length} chosen. Nothing starts yet.`
                        : 'Tick one or more, or type a number. Or write your own question below.'}
              </span>
            </div>
          ) : null}
        </div>
      );
    };
  })();

const ScopeCard = parts.ScopeCard;
export default <ScopeCard p={props} callAction={callAction} />;
