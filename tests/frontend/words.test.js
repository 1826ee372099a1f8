// Every text of the page exists in every language that the page claims to speak.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { STAGES, STATES } from '../../public/run_state.js';
import { WORDS } from '../../public/words.js';

const home = new URL('../../public/', import.meta.url);
const read = (name) => readFileSync(new URL(name, home), 'utf8');
const files = ['dossier.js', ...readdirSync(new URL('elements/', home)).map((name) => `elements/${name}`)];
const TEXT = /'((?:[^'\\]|\\.)*)'/g;

/** The arguments of every call of `name`, as written. */
function calls(source, name) {
  const found = [];
  for (const match of source.matchAll(new RegExp(`(?<![\\w.])${name}\\(`, 'g'))) {
    let depth = 1;
    let at = match.index + match[0].length;
    const from = at;
    for (; depth && at < source.length; at += 1) depth += { '(': 1, ')': -1 }[source[at]] ?? 0;
    found.push(source.slice(from, at - 1));
  }
  return found;
}

test('no text of the page is missing in a language that it speaks', () => {
  for (const [language, table] of Object.entries(WORDS)) {
    const missing = new Set();
    const need = (text) => text && !(text in table) && missing.add(text);
    for (const source of files.map(read)) {
      for (const call of calls(source, 't')) {
        const [said] = call.split(/,\s*\{/); // behind it stand the values
        for (const [, text] of said.matchAll(TEXT)) if (!/^(deep|_)$/.test(text)) need(text);
      }
      for (const call of calls(source, 'plural')) {
        const [one, many] = [...call.matchAll(TEXT)].map((match) => match[1]);
        if (one) [one, many ?? `${one}s`].forEach(need);
      }
    }
    for (const source of files.map(read))
      for (const [, listed] of source.matchAll(/const (?:VERDICTS|HINTS|WAITS|GRADES|HOW) = (\{[\s\S]*?\n\s*\};)/g))
        for (const [, text] of listed.matchAll(TEXT)) if (/^[A-Z]/.test(text)) need(text);
    for (const [word] of [...Object.values(STATES), ...Object.values(STAGES)]) need(word);
    assert.deepEqual([...missing], [], language);
  }
});

test('a translation keeps the values of its text, and none is an orphan of another', () => {
  const values = (text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  for (const table of Object.values(WORDS))
    for (const [text, said] of Object.entries(table)) assert.deepEqual(values(said), values(text), text);
});
