// A report is one run in one file, which answers in place of a server.
import type { Columns } from "./tree";

interface Data {
  version: string;
  head: unknown;
  calls: Columns;
  graph?: unknown;
  details: object[]; // of each call, what columns do not have
}

const file = document.getElementById("report");

// report is set where the page is such a file.
export const report = file ? { id: file.dataset.run ?? "" } : undefined;

let data: Data;

// load reads what the file has: JSON, gzip, base64.
export async function load(): Promise<void> {
  if (!file) return;
  const letters = atob(file.textContent ?? "");
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  data = (await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json()) as Data;
  file.remove();
}

// callOf is the call with a number, as the server has it.
function callOf(n: number) {
  const c = data.calls;
  const d = data.details[n];
  if (!d) return undefined;
  const key = c.key[n];
  const attempts = c.key.flatMap((k, i) => (k === key ? [i] : []));
  return { n, key, node: key, attempt: c.attempt[n], tool: c.tools[c.tool[n]], state: c.state[n], start: c.start[n], end: c.end[n], tokens: c.tokens[n], cost_usd: c.cost[n],
    cached: !!(c.flags[n] & 1), denied: !!(c.flags[n] & 2), ...d, attempts };
}

// requestOf answers a request for data.
export function requestOf(path: string): Response {
  const call = /\/calls\/(\d+)$/.exec(path);
  const found = path === "project" ? { root: "", version: data.version, read_only: true, no_run: true, runs: "", problem: "", files: [] }
    : path === "inbox" ? { questions: [] }
    : call ? callOf(+call[1])
    : path.endsWith("/graph") ? data.graph
    : undefined;
  return found ? new Response(JSON.stringify(found)) : new Response(JSON.stringify({ status: 404, title: "the file does not have it" }), { status: 404 });
}

// listenTo tells all that is known of the run, once.
export function listenTo(on: (event: string, data: unknown) => void): () => void {
  let here = true;
  queueMicrotask(() => {
    if (!here) return;
    on("calls", data.calls);
    on("run", data.head);
  });
  return () => void (here = false);
}
