/* The live card's state: folded from the tree that the server sends once and the events that follow.
 *
 * Pure: no page, no clock of its own. The states, stages and kinds below are those of the server's events;
 * tests/frontend holds them against the schema that is generated from the server's own types.
 */

/** Kinds of events that the server sends. */
export const KINDS = [
  'job',
  'node',
  'planned',
  'asked',
  'search',
  'source',
  'rejected',
  'round',
  'claim',
  'draft',
  'section',
  'note',
  'report',
];

/** Word, tone and shape of each state of a part. */
export const STATES = {
  queued: ['Waiting', 'quiet', 'queued'],
  planning: ['Planning', 'work', 'working'],
  searching: ['Searching', 'work', 'searching'],
  reading: ['Reading', 'work', 'reading'],
  writing: ['Writing', 'work', 'writing'],
  retrying: ['Trying again', 'caution', 'retrying'],
  done: ['Done', 'good', 'done'],
  partial: ['Partial', 'caution', 'partial'],
  empty: ['Nothing found', 'quiet', 'queued'],
  failed: ['Failed', 'bad', 'failed'],
  stopped: ['Stopped', 'quiet', 'stopped'],
};

/** What the stages are called, and which of the five steps shown they belong to. */
export const STAGES = {
  planning: ['Planning', 0],
  collecting: ['Searching and reading', 1],
  challenging: ['Checking', 2],
  composing: ['Writing', 3],
  judging: ['Reviewing', 4],
  reworking: ['Reviewing', 4],
  completed: ['Done', 5],
};
export const STEPS = ['Planning', 'Searching and reading', 'Checking', 'Writing', 'Reviewing'];

/** Statuses after which nothing changes any more. */
export const OVER = ['done', 'failed', 'cancelled'];
/** Reasons for resting from which a run goes on: the page goes on listening. */
const RESTS = ['paused', 'awaiting_key', 'version'];
const AGAIN_WITHIN = 8; // lines
const FEED = 400;

const AT_WORK = ['planning', 'searching', 'reading', 'writing', 'retrying'];
export const atWork = (state) => AT_WORK.includes(state);
export const looks = (state) => STATES[state] ?? ['Working', 'work', 'working'];

/** The words of what the server tells: a text, or a text with its form and values. */
const textOf = (said) => said.text ?? said;

/** A run that nothing is known of yet. */
export const begin = (now) => ({
  status: '',
  stage: '',
  blocked_reason: '',
  note: '',
  seq: 0,
  seconds: 0,
  at: now,
  minutes: null,
  reserve_s: null,
  max_cost_usd: null,
  usage: {},
  now: '',
  ending: '',
  kept: false,
  grade: '',
  limited: '',
  nodes: new Map(),
  feed: [],
  shape: 0, // counts changes of the tree's form, so that rows are ordered anew only then
});

/** Whether a run has come to its end, or rests for good. */
export function ended(run) {
  if (OVER.includes(run.status)) return true;
  return run.status === 'blocked' && !RESTS.includes(run.blocked_reason);
}

function put(run, row, now) {
  if (row?.id === undefined || row.id === null) return;
  const old = run.nodes.get(row.id);
  if (!old || ('parent' in row && old.parent !== row.parent)) run.shape += 1;
  run.nodes.set(row.id, { ...old, ...row, at: now });
}

const TREE = [
  'status',
  'stage',
  'seq',
  'seconds',
  'usage',
  'now',
  'minutes',
  'reserve_s',
  'max_cost_usd',
  'title',
  'ending',
  'kept',
  'grade',
  'limited',
];

/** Take the whole tree as the server tells it: it wins over all that was known. */
export function takeTree(run, tree, now) {
  for (const name of TREE) if (tree[name] !== undefined && tree[name] !== null) run[name] = tree[name];
  run.blocked_reason = tree.blocked_reason ?? '';
  run.note = tree.note ?? '';
  run.at = now;
  const known = new Set();
  for (const row of tree.nodes ?? []) {
    known.add(row.id);
    put(run, row, now);
  }
  for (const id of [...run.nodes.keys()]) {
    if (known.has(id)) continue;
    run.nodes.delete(id);
    run.shape += 1;
  }
  const told = (tree.feed ?? []).map((line, i) => ({ key: `t${line.seconds}-${textOf(line.said)}`, ...line, i }));
  told.sort((a, b) => b.seconds - a.seconds || b.i - a.i);
  run.feed = told;
  return run;
}

/** Take one message of the event stream; says whether the tree must be read again. */
export function takeEvent(run, message, now) {
  if (message.seq && message.seq <= run.seq) return false;
  if (message.seq) run.seq = message.seq;
  if (message.seconds !== undefined && message.seconds !== null) {
    run.seconds = message.seconds;
    run.at = now;
  }
  for (const name of ['usage', 'ending', 'kept', 'limited']) run[name] = message[name] ?? run[name];
  if (message.now !== undefined && message.now !== null) run.now = message.now;
  // the row that it is about, and those above it
  for (const row of message.nodes?.length ? message.nodes : message.node ? [message.node] : []) put(run, row, now);
  if (message.feed) {
    const line = { key: `s${message.seq}`, seconds: message.seconds, said: message.feed };
    // as the server does: what was said a few lines ago is not said twice
    const again = (one) => textOf(one.said) === textOf(line.said);
    const before = run.feed.filter((one, i) => i >= AGAIN_WITHIN || !again(one));
    run.feed = [line, ...before].slice(0, FEED);
  }
  const event = message.event ?? {};
  if ((event.kind ?? message.kind) === 'job') {
    if (event.status) run.status = event.status;
    if (event.stage) run.stage = event.stage;
    run.blocked_reason = event.blocked_reason ?? '';
    run.note = event.note ?? '';
    return ended(run); // once more whole: the last word of every part
  }
  return event.tag === 'change'; // what may be spent may have changed
}

/** The parts in reading order; with one question its parts are the rows, what it does as a whole stands above. */
export function rowsOf(nodes) {
  const kids = new Map();
  for (const node of nodes.values()) {
    const up = node.parent && nodes.has(node.parent) && node.parent !== node.id ? node.parent : '';
    if (!kids.has(up)) kids.set(up, []);
    kids.get(up).push(node.id);
  }
  const rows = [];
  const met = new Set();
  const walk = (id, depth, number, pos, size, path) => {
    if (met.has(id)) return;
    met.add(id);
    const list = kids.get(id) ?? [];
    const shown = typeof nodes.get(id).n === 'string' ? nodes.get(id).n : number;
    rows.push({ id, depth, number: shown, pos, size, kids: list.length, path });
    list.forEach((kid, i) => walk(kid, depth + 1, `${number}.${i + 1}`, i + 1, list.length, [...path, id]));
  };
  let roots = kids.get('') ?? [];
  if (roots.length === 1 && kids.get(roots[0])?.length) {
    met.add(roots[0]);
    roots = kids.get(roots[0]);
  }
  roots.forEach((kid, i) => walk(kid, 0, String(i + 1), i + 1, roots.length, []));
  return rows;
}

const SHAPES = {
  complete: ['done', 'good'],
  partial: ['partial', 'caution'],
  nothing_found: ['queued', 'quiet'],
  stopped: ['stopped', 'quiet'],
  failed: ['failed', 'bad'],
};

/** How a run ended, as the server says, in a shape and a tone, with counts of its parts. */
export function endOf(run) {
  const n = { done: 0, partial: 0, failed: 0, stopped: 0, empty: 0 };
  const leaves = [...run.nodes.values()].filter((node) => node.role === 'leaf' && node.n);
  for (const leaf of leaves) if (leaf.state in n) n[leaf.state] += 1;
  const [shape, tone] = SHAPES[run.ending] ?? SHAPES.partial;
  return { shape, tone, counts: { all: leaves.length, delivered: n.done + n.partial, ...n } };
}
