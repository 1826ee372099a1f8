import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as run from '../../public/run_state.js';

const schema = JSON.parse(readFileSync(new URL('./run.schema.json', import.meta.url)));
const node = (id, more = {}) => ({ id, parent: '', n: '', role: 'leaf', title: id, state: 'reading', ...more });
const tree = (...nodes) => ({ status: 'running', stage: 'collecting', seq: 5, seconds: 3, nodes, feed: [] });

test('every state, stage, status and kind of the server has its words here, and none that the server lacks', () => {
  assert.deepEqual(Object.keys(run.STATES).sort(), [...schema.states].sort());
  assert.deepEqual(Object.keys(run.STAGES).sort(), [...schema.stages].sort());
  assert.deepEqual([...run.KINDS].sort(), [...schema.kinds].sort());
  assert.deepEqual([...run.OVER].sort(), [...schema.over].sort());
});

test('the card reads no field of the tree that the server does not send', () => {
  const known = Object.keys(schema.tree.properties);
  for (const name of Object.keys(run.begin(0))) {
    if (['at', 'shape'].includes(name)) continue;
    assert.ok(known.includes(name), name);
  }
});

test('a tree read anew wins over what was known', () => {
  const state = run.takeTree(run.begin(0), tree(node('a'), node('b')), 1);
  run.takeTree(state, tree(node('b', { state: 'done' })), 2);
  assert.deepEqual([...state.nodes.keys()], ['b']);
  assert.equal(state.nodes.get('b').state, 'done');
  assert.equal(state.shape, 3);
});

test('an event changes its row and those above, and an old one changes nothing', () => {
  const state = run.takeTree(run.begin(0), tree(node('a'), node('a/0', { parent: 'a' })), 1);
  const event = { seq: 6, seconds: 4, nodes: [node('a/0', { parent: 'a', sources: 2 })], event: { kind: 'source' } };
  assert.equal(run.takeEvent(state, event, 2), false);
  assert.equal(state.nodes.get('a/0').sources, 2);
  assert.equal(state.shape, 2);
  run.takeEvent(state, { seq: 6, seconds: 9, nodes: [node('c')] }, 3);
  assert.equal(state.nodes.has('c'), false);
  assert.equal(state.seconds, 4);
});

test('the feed is newest first and does not grow without bound', () => {
  const state = run.takeTree(
    run.begin(0),
    {
      ...tree(),
      feed: [
        { seconds: 1, said: 'a' },
        { seconds: 2, said: { text: 'b' } },
      ],
    },
    1,
  );
  assert.deepEqual(
    state.feed.map((line) => line.said),
    [{ text: 'b' }, 'a'],
  );
  for (let seq = 6; seq < 600; seq += 1) run.takeEvent(state, { seq, seconds: seq, feed: `line ${seq}` }, 2);
  assert.equal(state.feed[0].said, 'line 599');
  assert.equal(state.feed.length, 400);
});

test('the end of a run, and a change of its limits, ask for the whole tree once more', () => {
  const state = run.takeTree(run.begin(0), tree(node('a')), 1);
  assert.equal(run.takeEvent(state, { seq: 6, event: { kind: 'note', tag: 'change' } }, 2), true);
  assert.equal(run.takeEvent(state, { seq: 7, event: { kind: 'job', status: 'done', stage: 'completed' } }, 2), true);
  assert.equal(run.ended(state), true);
});

test('a paused run goes on being listened to, one that needs somebody does not', () => {
  assert.equal(run.ended({ status: 'blocked', blocked_reason: 'paused' }), false);
  assert.equal(run.ended({ status: 'blocked', blocked_reason: 'needs_rework' }), true);
  assert.equal(run.ended({ status: 'running', blocked_reason: '' }), false);
});

test('with one question its parts are the rows, with several the questions are', () => {
  const one = new Map([node('q', { role: 'query' }), node('q/0', { parent: 'q', n: '1' })].map((n) => [n.id, n]));
  assert.deepEqual(
    run.rowsOf(one).map((row) => [row.id, row.number, row.depth]),
    [['q/0', '1', 0]],
  );
  const two = new Map([...one, ['r', node('r', { role: 'query', n: '2' })]]);
  assert.deepEqual(
    run.rowsOf(two).map((row) => row.id),
    ['q', 'q/0', 'r'],
  );
});

test('how a run ended is what the server says, in event and tree, and no tick stands before it is said', () => {
  const nodes = [node('a', { n: '1', state: 'done' }), node('b', { n: '2', state: 'partial' })];
  const state = run.takeTree(run.begin(0), tree(...nodes), 1);
  assert.equal(run.endOf({ ...state, status: 'done' }).tone, 'caution');
  run.takeEvent(state, { seq: 6, ending: 'complete', kept: false, event: { kind: 'job', status: 'done' } }, 2);
  assert.deepEqual([run.endOf(state).tone, run.endOf(state).counts.delivered], ['good', 2]);
  run.takeTree(state, { ...tree(...nodes), ending: 'stopped', kept: true }, 3);
  assert.deepEqual([run.endOf(state).shape, state.kept], ['stopped', true]);
});

test('why a run rests or failed is known from the tree and from the event, and forgotten when it goes on', () => {
  const state = run.takeTree(
    run.begin(0),
    { ...tree(), status: 'blocked', blocked_reason: 'version', note: 'Other.' },
    1,
  );
  assert.equal(state.note, 'Other.');
  run.takeEvent(state, { seq: 6, seconds: 4, event: { kind: 'job', status: 'running', stage: 'collecting' } }, 2);
  assert.equal(state.note, '');
  run.takeEvent(state, { seq: 7, seconds: 5, event: { kind: 'job', status: 'failed', note: 'No answer.' } }, 3);
  assert.equal(state.note, 'No answer.');
  assert.equal(run.takeTree(state, tree(), 4).note, '');
});
