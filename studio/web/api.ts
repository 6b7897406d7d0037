// What the server says: requests with the token, and one stream of events for the page.
import { signal } from "@preact/signals";
import { listenTo, load, report, requestOf } from "./report";

const STORE = "flowgen.studio.token";

// token comes with the printed address once, and is kept by this tab only.
function takeToken(): string {
  const given = /[#&]token=([0-9a-f]+)/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(STORE, given[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(STORE) ?? "";
}
let token = report ? "" : takeToken();

// begin exchanges the code of `flowgen studio --open` for the token.
export async function begin(): Promise<void> {
  const code = report ? null : /^#code=([0-9a-f]+)/.exec(location.hash);
  if (!code) return load();
  history.replaceState(null, "", location.pathname + location.search);
  const r = await fetch("/api/v1/token", { method: "POST", body: JSON.stringify({ code: code[1] }), headers: { "Content-Type": "application/json" }, cache: "no-store" });
  if (!r.ok) return;
  token = ((await r.json()) as { token: string }).token;
  sessionStorage.setItem(STORE, token);
}

export interface Problem {
  status: number;
  title: string;
  detail?: string;
  edit?: { diff: string };
}

export class Refused extends Error {
  constructor(public problem: Problem) {
    super(problem.detail ? problem.title + ": " + problem.detail : problem.title);
  }
}

async function refusal(r: Response): Promise<Refused> {
  try {
    return new Refused((await r.json()) as Problem);
  } catch {
    return new Refused({ status: r.status, title: "the answer of the server cannot be read" });
  }
}

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const r = report ? requestOf(path) : await ask(path, init);
  if (!r.ok) throw await refusal(r);
  return r;
}

const ask = (path: string, init: RequestInit) => {
  return fetch("/api/v1/" + path, {
    ...init,
    headers: { Authorization: "Bearer " + token, ...(init.body ? { "Content-Type": "application/json" } : {}) },
    cache: "no-store",
  });
};

export const get = async <T>(path: string): Promise<T> => (await request(path)).json() as Promise<T>;
export const post = async <T>(path: string, body: unknown): Promise<T> =>
  (await request(path, { method: "POST", body: JSON.stringify(body) })).json() as Promise<T>;

export const param = encodeURIComponent;

// lost is since when the stream is away; 0 while it is there.
export const lost = signal(0);

export type Listener = (event: string, data: unknown) => void;

// A page has one stream, whatever its parts listen to: browsers open few connections to a server.
const listeners: { topics: string[]; on: Listener }[] = [];
let now: { topics: string; stop: AbortController } | undefined;

const topicOf = (event: string) => (event === "project.changed" ? "project" : event === "runs.changed" ? "runs" : "run:");

// listen follows topics until the returned function is called. When the stream begins anew it says "again".
export function listen(topics: string, on: Listener): () => void {
  if (report) return listenTo(on);
  const one = { topics: topics.split(","), on };
  listeners.push(one);
  queueMicrotask(tune);
  return () => {
    listeners.splice(listeners.indexOf(one), 1);
    queueMicrotask(tune);
  };
}

// tune has the stream carry what is listened to, and nothing while nobody looks at the page.
function tune() {
  const topics = document.hidden ? "" : [...new Set(listeners.flatMap((l) => l.topics))].sort().join(",");
  if ((now?.topics ?? "") === topics) return;
  const before = now;
  before?.stop.abort();
  now = topics ? { topics, stop: new AbortController() } : undefined;
  if (now) void carry(now.topics, now.stop.signal, !!before);
}
document.addEventListener("visibilitychange", () => {
  tune();
  if (!document.hidden) tell("again", null);
});

function tell(event: string, data: unknown) {
  for (const l of [...listeners]) if (event === "again" || l.topics.some((t) => t.startsWith(topicOf(event)))) l.on(event, data);
}

async function carry(topics: string, stop: AbortSignal, anew: boolean) {
  for (let pause = 500; ; ) {
    try {
      const r = await request("events?topics=" + param(topics), { signal: stop });
      lost.value = 0;
      pause = 500;
      if (anew) tell("again", null);
      await read(r, tell);
    } catch (e) {
      if (stop.aborted) return;
      if (e instanceof Refused && e.problem.status < 500) return tell("gone", e.problem);
    }
    if (stop.aborted) return;
    anew = true;
    lost.value ||= Date.now();
    await new Promise((go) => setTimeout(go, pause));
    if (stop.aborted) return;
    pause = Math.min(pause * 2, 4000);
  }
}

async function read(r: Response, on: Listener) {
  const reader = r.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const event = /^event: (.*)$/m.exec(rest.slice(0, end));
      const data = /^data: (.*)$/m.exec(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (event && data) on(event[1], JSON.parse(data[1]));
    }
  }
}
