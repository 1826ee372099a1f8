// Verdicts on the queries as they stand, and narrower versions to choose from. Nothing starts here.
import { useId, useState } from 'react';

const parts = (globalThis.dossierParts = globalThis.dossierParts || {});

// Made once per page: the runner evaluates this file again whenever the chat's state changes, and a new function
// would be a new component that forgets what was ticked.
parts.ScopeCard =
  parts.ScopeCard ||
  (function () {
    const { Icon, plural, speak, t } = globalThis.dossier;
    // What was ticked, by the choices: a message that gets another place in the page is mounted anew.
    const ticked = new Map();

    function Option({ n, text, takes, on, disabled, set }) {
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
            {takes ? <small>{takes}</small> : null}
          </span>
        </label>
      );
    }

    return function ScopeCard({ p, callAction }) {
      speak(p.lang);
      const base = useId();
      const queries = p.queries || [];
      const splitsOf = (q) => (q.feasible ? [] : q.splits || []);
      const key = queries.flatMap(splitsOf).join('\n');
      const [chosen, setChosen] = useState(() => ticked.get(key) || []);
      const [sent, setSent] = useState('');
      const disabled = !p.active || sent === 'sending' || sent === 'sent';
      // Numbered as they can be typed: in order, each once.
      const choices = [...new Set(queries.flatMap(splitsOf))];
      const picked = choices.filter((t) => chosen.includes(t));
      const set = (text, on) =>
        setChosen((now) => {
          const others = now.filter((t) => t !== text),
            next = on ? [...others, text] : others;
          ticked.set(key, next);
          return next;
        });
      const tell = async (text) => {
        setSent('sending');
        try {
          const answer = await callAction({ name: 'say', payload: { text } });
          const failed = answer && answer.success === false;
          if (!failed) ticked.delete(key);
          setSent(failed ? 'failed' : 'sent');
        } catch (e) {
          setSent('failed');
        }
      };
      // As the numbers of several would have been typed.
      const use = () => tell(picked.length > 1 ? picked.map((one, i) => `${i + 1}. ${one}`).join('\n') : picked[0]);
      const unsent = t('That did not reach the server. Try again, or write it in the message box.');
      const many = queries.length > 1;
      return (
        <div className="ds ds-scope" data-scope={p.active ? 'active' : 'past'}>
          {(p.points || []).length ? (
            <ul className="ds-asks" aria-label={t('What leaves the question open')}>
              {p.points.map((q, i) => (
                <li key={i} dir="auto">
                  {q}
                </li>
              ))}
            </ul>
          ) : null}
          {queries.map((q, i) => {
            const id = `${base}q${i}`;
            if (!many && p.points?.length && !splitsOf(q).length) return null; // the manager's words above say it
            return (
              <section key={i}>
                {many || !p.points?.length ? (
                  <div className="ds-query">
                    <span className="ds-n">{q.n ?? i + 1}</span>
                    <p className="ds-q" id={id} dir="auto">
                      {q.text}
                    </p>
                    <span className={'ds-tag ' + (q.feasible ? 'ds-good' : 'ds-caution')}>
                      {Icon(React, q.feasible ? 'tick' : 'partial', 13)}
                      {t(q.feasible ? 'Ready' : 'Too broad')}
                    </span>
                    {q.reason ? (
                      <span className="ds-why" dir="auto">
                        {q.reason}
                      </span>
                    ) : null}
                  </div>
                ) : null}
                {splitsOf(q).length ? (
                  <div
                    className="ds-opts"
                    role="group"
                    aria-label={
                      many ? t('Narrower questions for question {n}', { n: q.n ?? i + 1 }) : t('Narrower questions')
                    }
                  >
                    {splitsOf(q).map((text) => (
                      <Option
                        key={text}
                        n={choices.indexOf(text) + 1}
                        text={text}
                        takes={p.takes}
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
          {p.as_it_stands && (p.active || sent) ? (
            <div className="ds-row ds-scope-foot">
              <button type="button" className="ds-btn ds-pri" disabled={disabled} onClick={() => tell(p.as_it_stands)}>
                {p.as_it_stands}
              </button>
              <span className="ds-dim" role="status">
                {sent === 'failed'
                  ? unsent
                  : sent
                    ? t('Drafting a plan from these.')
                    : t('Or answer below. Nothing starts before you have seen the plan.')}
              </span>
            </div>
          ) : null}
          {choices.length && (p.active || sent) ? (
            <div className="ds-row ds-scope-foot">
              <button type="button" className="ds-btn ds-pri" disabled={disabled || !picked.length} onClick={use}>
                {t('Use these')}
              </button>
              <span className="ds-dim" role="status">
                {sent === 'failed'
                  ? unsent
                  : sent === 'sent'
                    ? t('{questions} taken over.', { questions: plural(picked.length, 'question') })
                    : sent === 'sending'
                      ? t('Drafting a plan from these.')
                      : picked.length
                        ? t('{n} chosen. Nothing starts yet.', { n: picked.length })
                        : t('Tick one or more, or type a number. Or write your own question below.')}
              </span>
            </div>
          ) : null}
        </div>
      );
    };
  })();

const ScopeCard = parts.ScopeCard;
export default <ScopeCard p={props} callAction={callAction} />;
