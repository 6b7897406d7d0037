// The workloads of bench/workload on LangGraph.js. The protocol is that of ../go/main.go.
import { createInterface } from "node:readline";
import { Annotation, END, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const nodes = 100, items = 1000, token = "a secret"; // Send takes longer for each item the more there are
const hold = (ok, got) => { if (!ok) throw new Error(`the result is wrong: ${JSON.stringify(got)}`); };

const workloads = {
  W1() {
    const graph = new StateGraph(Annotation.Root({ count: Annotation(), text: Annotation() }));
    for (let i = 0; i < nodes; i++) graph.addNode(`n${i}`, (s) => ({ count: s.count + 1 }));
    graph.addEdge(START, "n0");
    for (let i = 1; i < nodes; i++) graph.addEdge(`n${i - 1}`, `n${i}`);
    const app = graph.addEdge(`n${nodes - 1}`, END).compile();
    return async () => {
      const out = await app.invoke({ count: 0, text: "hello" }, { recursionLimit: 2 * nodes });
      hold(out.count === nodes, out);
    };
  },
  W2() {
    const state = Annotation.Root({ items: Annotation(), out: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) });
    const app = new StateGraph(state)
      .addNode("plan", () => ({}))
      .addNode("double", (item) => ({ out: [{ id: item.id, value: item.id * 2 }] }))
      .addEdge(START, "plan")
      .addConditionalEdges("plan", (s) => s.items.map((item) => new Send("double", item)), ["double"])
      .addEdge("double", END)
      .compile();
    const all = Array.from({ length: items }, (_, id) => ({ id }));
    return async () => {
      const { out } = await app.invoke({ items: all });
      hold(out.length === items && out[17].id === 17, out.length);
    };
  },
  W5(server) {
    const fetches = async () => {
      const response = await fetch(`${server}/pulls/42`, {
        headers: { Authorization: `Bearer ${token}`, Accept: "application/json" }, signal: AbortSignal.timeout(15_000),
      });
      hold(response.ok, response.status);
      return { pull: await response.json() };
    };
    const app = new StateGraph(Annotation.Root({ pull: Annotation() }))
      .addNode("fetch", fetches).addEdge(START, "fetch").addEdge("fetch", END).compile();
    return async () => { const out = await app.invoke({}); hold(out.pull.id === 42, out); };
  },
  W7(server) {
    const add = tool(async ({ a, b }) => JSON.stringify({ sum: a + b }),
      { name: "add", description: "Adds two numbers.", schema: z.object({ a: z.number(), b: z.number() }) });
    const model = new ChatOpenAI({ model: "fake", apiKey: token, configuration: { baseURL: server } }).bindTools([add]);
    const app = new StateGraph(MessagesAnnotation)
      .addNode("agent", async (s) => ({ messages: [await model.invoke(s.messages)] }))
      .addNode("tools", new ToolNode([add]))
      .addEdge(START, "agent")
      .addConditionalEdges("agent", (s) => (s.messages.at(-1).tool_calls?.length ? "tools" : END), ["tools", END])
      .addEdge("tools", "agent")
      .compile();
    return async () => {
      const out = await app.invoke({ messages: [{ role: "user", content: "turns=10;" }] }, { recursionLimit: 60 });
      hold(out.messages.at(-1).content === "done", out.messages.at(-1).content);
    };
  },
};

const made = {};
for await (const line of createInterface({ input: process.stdin })) {
  try {
    const [workload, n, server] = line.split(" ");
    const run = (made[workload] ??= workloads[workload](server));
    for (let i = 0; i < Number(n); i++) await run();
    console.log("ok");
  } catch (e) {
    console.log(JSON.stringify(String(e)));
  }
}
