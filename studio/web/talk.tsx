// The conversation of an agent, turn by turn. A turn's input has only the messages that are new in it.
import { useEffect, useState } from "preact/hooks";
import { get } from "./api";
import { callAddress, isRemote } from "./pages";
import { Badge, Mark, Meter, scrolls, Trouble } from "./parts";
import { set } from "./route";
import { count, counted, dollars, line, plain, span } from "./text";
import type { Call } from "./tree";

export interface Message {
  role?: string;
  text?: string;
  content?: unknown;
  parts?: unknown;
  calls?: { id?: string; name?: string; args?: unknown }[];
  results?: { id?: string; name?: string; text?: unknown; failed?: boolean }[];
}

const text = (v: unknown) => (typeof v === "string" ? v : JSON.stringify(v ?? null));

// pretty indents JSON, and leaves what is none.
function pretty(v: unknown): string {
  try {
    return JSON.stringify(JSON.parse(text(v)), null, 2);
  } catch {
    return text(v);
  }
}

// One is a message: its text, the tool calls that it asks for, and the results that it carries.
export function One({ m }: { m: Message }) {
  const calls = Array.isArray(m.calls) ? m.calls : [];
  const results = Array.isArray(m.results) ? m.results : [];
  const said = typeof m.text === "string" ? m.text : typeof m.content === "string" ? m.content : calls.length || results.length ? "" : JSON.stringify(m.content ?? m.parts ?? m);
  return (
    <div class="message-block"><h3>{line(String(m.role ?? "message"))}</h3>
      {said && <p {...scrolls("Text")}>{plain(said)}</p>}
      {calls.map((c) => <div class="tool-call"><p>calls <code>{line(String(c?.name ?? ""), 120)}</code></p><pre class="code block" {...scrolls("Arguments")}>{plain(pretty(c?.args)).slice(0, 65536)}</pre></div>)}
      {results.map((r) => <div class="tool-result"><p>result of <code>{line(String(r?.name ?? ""), 120)}</code> {r?.failed && <Badge tone="fail">failed</Badge>}</p><pre class="code block" {...scrolls("Result")}>{plain(pretty(r?.text)).slice(0, 65536)}</pre></div>)}
    </div>
  );
}

// turnsOf are the model calls of the agent that a call belongs to, the last attempt of each turn.
export function turnsOf(all: Call[], one?: Call): Call[] {
  const agent = one?.model && /^(.*)\[\d+\](\/model)$/.exec(one.key);
  if (!agent) return [];
  const turns = new Map<string, Call>();
  for (const c of all) {
    const at = c?.model && /^(.*)\[\d+\](\/model)$/.exec(c.key);
    if (at && at[1] === agent[1] && at[2] === agent[2]) turns.set(c.key, c);
  }
  return [...turns.values()].sort((a, b) => a.start - b.start);
}

interface Turn { call: Call; messages: Message[]; answer?: Message; cut: boolean; bad?: string }

const most = 100; // turns that are read

export function Talk({ run, turns, all }: { run: string; turns: Call[]; all: Call[] }) {
  const [read, show] = useState<Turn[]>([]);
  const priced = !isRemote(run); // a server does not say what single calls cost
  const mark = turns.map((c) => c.n + c.state).join();
  useEffect(() => {
    let here = true;
    void (async () => {
      const list: Turn[] = [];
      for (const call of turns.slice(0, most)) {
        const turn: Turn = { call, messages: [], cut: false };
        try {
          const whole = await get<{ input?: { text: string; cut?: boolean }; output?: { text: string; cut?: boolean } }>(callAddress(run, call.n, all));
          turn.cut = !!whole.input?.cut || !!whole.output?.cut;
          if (whole.input && !whole.input.cut) {
            const input = JSON.parse(whole.input.text) as { system?: unknown; messages?: unknown };
            if (typeof input?.system === "string") turn.messages.push({ role: "system", text: input.system });
            if (Array.isArray(input?.messages)) turn.messages.push(...(input.messages as Message[]).filter((m) => m && typeof m === "object"));
          }
          if (whole.output && !whole.output.cut) turn.answer = (JSON.parse(whole.output.text) as { message?: Message })?.message;
        } catch (e) {
          turn.bad = (e as Error).message;
        }
        const before = list[list.length - 1]?.answer;
        if (before && turn.messages[0]?.role === "assistant") turn.messages.shift(); // it stands there as the answer
        list.push(turn);
      }
      if (here) show(list);
    })();
    return () => void (here = false);
  }, [run, mark]);
  return (
    <section aria-label="Conversation"><h2>Conversation <small>{counted(turns.length, "turn")}{priced && ", " + counted(turns.reduce((n, c) => n + c.tokens, 0), "token")}</small></h2>
      {read.map((t, i) => (
        <div class="turn-block">
          <p class="flex wrap"><Mark state={t.call.state} /><b>turn {i + 1}</b> <small>{priced && <>{count(t.call.tokens)} tokens, {t.call.cost && t.call.cost !== "0" ? dollars(t.call.cost) : "no known price"}, </>}{span(t.call.end - t.call.start)}</small>
            {t.call.code && <Badge tone="fail">{line(t.call.code, 40)}</Badge>} <button class="btn bare" onClick={() => set("c", String(t.call.n))}>call</button></p>
          {t.bad && <Trouble text={t.bad} />}
          {t.cut && <p class="dim">messages beyond 64 KiB are in the call itself</p>}
          {t.messages.slice(0, 200).map((m) => <One m={m} />)}
          {t.answer && typeof t.answer === "object" && <One m={t.answer} />}
        </div>
      ))}
      {turns.length > most && <p class="dim">the first {most} turns</p>}
    </section>
  );
}

// AgentBounds are the tools that an agent is offered, and its limits, from the plan of the run.
export interface AgentBounds { node: string; tools: string[]; turns?: number; calls?: number; cost?: string }

const mostBriefs = 50; // calls whose results are read

// Brief is the beginning of what a call has returned, or of its error.
function Brief({ run, call, all }: { run: string; call: Call; all: Call[] }) {
  const [text, show] = useState("");
  useEffect(() => {
    let here = true;
    show("");
    if (call.state !== "open") get<{ output?: { text: string }; error?: { message: string }; lacks?: string }>(callAddress(run, call.n, all))
      .then((c) => c.error?.message ?? c.output?.text ?? c.lacks ?? "").catch((e: Error) => e.message).then((said) => here && show(line(said)));
    return () => void (here = false);
  }, [run, call.n, call.state]);
  return text ? <p class="dim brief">{text}</p> : null;
}

// Offered shows which tools an agent was offered, which it called, in what order and with what result, what was denied, and what is left
// of its limits.
export function Offered({ run, turns, all, agents }: { run: string; turns: Call[]; all: Call[]; agents?: AgentBounds[] }) {
  const scope = turns[0].key.replace(/\[\d+\]\/model$/, "");
  const path = scope.replace(/\[\d+\]/g, "").replace(/#\d+/g, "");
  const agent = agents?.find((a) => a.node === path);
  const last = new Map<string, Call>();
  for (const c of all) if (c && !c.model && c.key.startsWith(scope + "[") && !c.again) last.set(c.key, c);
  const calls = [...last.values()].sort((a, b) => a.start - b.start);
  const made = calls.filter((c) => !c.denied);
  const cost = turns.reduce((n, c) => n + +c.cost, 0);
  const called = new Set(calls.map((c) => c.tool));
  return (
    <section aria-label="Tools of the agent"><h2>Tools</h2>
      <dl class="meters">
        <Meter name="turns" value={count(turns.length)} bound={agent?.turns ? count(agent.turns) : undefined} share={agent?.turns ? turns.length / agent.turns : undefined} />
        <Meter name="tool calls" value={count(made.length)} bound={agent?.calls ? count(agent.calls) : undefined} share={agent?.calls ? made.length / agent.calls : undefined} />
        {!isRemote(run) && <Meter name="cost" value={dollars(String(+cost.toFixed(9)))} bound={agent?.cost ? dollars(agent.cost) : undefined} share={agent?.cost && +agent.cost ? cost / +agent.cost : undefined} />}
      </dl>
      <ol class="called">{calls.slice(0, 200).map((c, i) => <li><button class="btn bare" onClick={() => set("c", String(c.n))}><Mark state={c.state} /> <code>{line(c.tool, 80)}</code></button> {c.denied && <Badge tone="wait">denied</Badge>} {c.cached && <Badge tone="hit">cached</Badge>} {c.code && <Badge tone="fail">{line(c.code, 40)}</Badge>} <small>{span(c.end - c.start)}</small>{i < mostBriefs && <Brief run={run} call={c} all={all} />}</li>)}</ol>
      {!!agent?.tools.length && <p class="dim">offered and not called: {agent.tools.filter((t) => !called.has(t)).map((t) => <code> {line(t, 80)}</code>)}{agent.tools.every((t) => called.has(t)) && "none"}</p>}
    </section>
  );
}
