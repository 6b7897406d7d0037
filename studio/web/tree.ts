// The calls of a run as a tree of scopes, made from their keys: probe[3]/search is node search for item 3 of map probe.

export interface Columns {
  at: number[];
  key: string[];
  attempt: number[];
  tool: number[];
  tools: string[];
  state: string[];
  start: number[];
  end: number[];
  tokens: number[];
  cost: string[];
  code: string[];
  flags: number[];
  total: number;
}

// Live is the progress of a node that is running, which the journal does not have.
export interface Live {
  key: string;
  text?: string;
  done?: number;
  total?: number;
  until?: string;
  reason?: string;
}

export interface Call {
  n: number;
  key: string;
  attempt: number;
  tool: string;
  state: string;
  start: number;
  end: number;
  tokens: number;
  cost: string;
  code: string;
  cached: boolean;
  denied: boolean;
  model: boolean;
  again: boolean;
  question: boolean;
}

export interface Scope {
  path: string; // of the key so far
  label: string;
  depth: number;
  up?: Scope;
  kids: Scope[];
  calls: Call[]; // attempts of the call with this key
  start: number;
  end: number;
  state: string; // the worst below
  done: number;
  failed: number;
  cached: number;
  all: number; // calls below
}

// worst comes first.
const order = ["waiting", "in_doubt", "stopped", "open", "failed", "cancelled", "interrupted", "done"];

export class Tree {
  calls: Call[] = [];
  root: Scope = scope("", "", -1);
  private byPath = new Map<string, Scope>();
  end = 0;
  live = new Map<string, Live>();
  failedAt = ""; // the node that the run failed at, although no call of it has

  add(c: Columns) {
    c.at.forEach((n, i) => {
      const f = c.flags[i];
      const call: Call = {
        n, key: c.key[i], attempt: c.attempt[i], tool: c.tools[c.tool[i]], state: c.state[i], start: c.start[i], end: c.end[i], tokens: c.tokens[i], cost: c.cost[i], code: c.code[i],
        cached: !!(f & 1), denied: !!(f & 2), model: !!(f & 4), again: !!(f & 8), question: !!(f & 16),
      };
      const old = this.calls[n];
      this.calls[n] = call;
      const at = this.scope(call.key);
      if (old) at.calls[at.calls.indexOf(old)] = call;
      else if (at.calls.length) at.calls.push(call);
      else at.calls = [call]; // most have one: an array that grows has room for 17
    });
  }

  private scope(key: string): Scope {
    const known = this.byPath.get(key);
    if (known) return known;
    const slash = key.lastIndexOf("/");
    let up = slash < 0 ? this.root : this.scope(key.slice(0, slash));
    const last = key.slice(slash + 1);
    const item = /^(.*)(\[\d+\])$/.exec(last);
    if (item) up = this.scope(key.slice(0, slash + 1) + item[1]); // probe[3] is an item of probe
    const s = scope(key, item ? item[2] : last, up.depth + 1);
    s.up = up;
    if (up.kids.length) up.kids.push(s);
    else up.kids = [s];
    this.byPath.set(key, s);
    return s;
  }

  find(path: string): Scope | undefined {
    return this.byPath.get(path);
  }

  // sum makes the figures of all scopes anew; now is where what is open ends.
  sum(now: number, running: boolean) {
    this.end = Math.max(1e-3, now);
    const walk = (s: Scope) => {
      s.start = Infinity;
      s.end = 0;
      s.done = s.failed = s.cached = s.all = 0;
      let worst = order.length;
      if (s.calls.length) {
        const last = s.calls.reduce((a, b) => (!b.again && (a.again || b.attempt >= a.attempt) ? b : a));
        for (const c of s.calls) {
          s.start = Math.min(s.start, c.start);
          s.end = Math.max(s.end, until(c, now, running));
        }
        worst = Math.min(worst, order.indexOf(seen(last.state, running)));
        s.all = 1;
        if (last.state === "failed") s.failed = 1;
        if (last.state === "done") s.done = 1;
        if (last.cached) s.cached = 1;
      }
      for (const k of s.kids) {
        walk(k);
        s.start = Math.min(s.start, k.start);
        s.end = Math.max(s.end, k.end);
        s.done += k.done;
        s.failed += k.failed;
        s.cached += k.cached;
        s.all += k.all;
        worst = Math.min(worst, order.indexOf(k.state));
      }
      s.state = order[worst] ?? "done";
      s.kids.sort((a, b) => a.start - b.start);
    };
    walk(this.root);
  }
}

const noScopes: Scope[] = [];
const noCalls: Call[] = [];

function scope(path: string, label: string, depth: number): Scope {
  return { path, label, depth, kids: noScopes, calls: noCalls, start: 0, end: 0, state: "done", done: 0, failed: 0, cached: 0, all: 0 };
}

// until is where the bar of a call ends.
export function until(c: Call, now: number, running: boolean): number {
  return c.state === "waiting" || (running && seen(c.state, running) === "open") ? now : c.end;
}

// seen is the state of an attempt on the page: without a result it runs while a program has the run, and was stopped otherwise.
export function seen(state: string, running: boolean): string {
  if (running) return state === "in_doubt" ? "open" : state;
  return state === "open" ? "stopped" : state;
}

export interface Filter {
  text: string;
  state: string;
}

export const passes = (c: Call, f: Filter) =>
  (!f.state || (f.state === "cached" ? c.cached : f.state === "model" ? c.model : c.state === f.state)) &&
  (!f.text || (c.key + " " + c.tool + " " + c.code).toLowerCase().includes(f.text));

// rows are the scopes that are shown, in their order: those that are open, or all with a call that passes a filter.
export function rows(t: Tree, open: Map<string, boolean>, f: Filter): Scope[] {
  const list: Scope[] = [];
  const filtered = !!(f.text || f.state);
  const hit = new Set<Scope>();
  if (filtered) {
    for (const c of t.calls) {
      if (!c || !passes(c, f)) continue;
      for (let s = t.find(c.key); s && !hit.has(s); s = s.up) hit.add(s);
    }
  }
  const walk = (s: Scope) => {
    for (let k of s.kids) {
      if (filtered && !hit.has(k)) continue;
      if (joins(k)) k = k.kids[0];
      list.push(k);
      if (filtered ? open.get(k.path) !== false : isOpen(k, open)) walk(k);
    }
  };
  walk(t.root);
  return list;
}

// joins: an item that has nothing but one call is shown in the row of the call.
const joins = (s: Scope) => !s.calls.length && s.kids.length === 1 && s.label[0] === "[" && !s.kids[0].kids.length;

// rowLabel is the label of a row.
export const rowLabel = (s: Scope) => (s.up && joins(s.up) ? name(s.up) + "/" + s.label : name(s));

// rowInset is in how many rows a row is.
export const rowInset = (s: Scope) => s.depth - (s.up && joins(s.up) ? 1 : 0);

// name counts the turns of agents from 1, as people do.
const name = (s: Scope) => (s.label[0] === "[" && s.kids.some((k) => k.calls.some((c) => c.model)) ? "turn " + (+s.label.slice(1, -1) + 1) + " " + s.label : s.label);

// isOpen: what is short is open, and so is what waits.
export const isOpen = (s: Scope, open: Map<string, boolean>) => open.get(s.path) ?? (s.kids.length > 0 && s.kids.length <= 12 && s.depth < 3);
