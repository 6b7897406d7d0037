// A small interpreter of experiences, written from the page of the project and from what its engine is known to do, in the engine's
// language, so that values, comparisons and texts are JavaScript's own. It reads a job from standard input:
//
//	experience  the file as JSON; that of a node which runs another one has it as `experience`, with its `dir`
//	upstream    the engine's behaviour wins over the page's
//
// and prints {status, finalState, error}. It runs in the folder of the experience, and asks models at OPENAI_BASE_URL.
import { readFileSync } from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const clone = (v) => (v === undefined ? undefined : JSON.parse(JSON.stringify(v)))
const plain = (v) => typeof v === "object" && v !== null && !Array.isArray(v)
const own = (o, k) => (typeof o === "object" && o !== null && Object.hasOwn(o, k) ? o[k] : undefined)

// A Stop ends the run whatever the node's policy is.
class Stop extends Error {}

class Experience {
  constructor(doc, upstream, dir) {
    this.upstream = upstream
    this.dir = dir
    this.fields = doc.state?.schema ?? {}
    this.nodes = doc.graph.nodes
    this.byID = Object.fromEntries(this.nodes.map((n) => [n.id, n]))
    this.pipelines = doc.graph.pipelines ?? []
    this.loops = doc.graph.loops ?? []
    this.concurrency = doc.runtime?.concurrency ?? 1
    const rounds = new Set([...this.pipelines.flatMap((p) => p.stages), ...this.loops.flatMap((l) => [l.body].flat())])
    this.graph = this.nodes.filter((n) => !rounds.has(n.id))
    const edges = doc.graph.edges ?? []
    this.edges = edges.filter((e) => !rounds.has(e.from) && !rounds.has(e.to))
    this.whens = edges.filter((e) => rounds.has(e.from) && !rounds.has(e.to)) // of which the condition alone counts
    this.state = {}
    this.ended = {} // done, failed, skipped, by id
    this.given = {} // edge_output by id
    for (const n of this.nodes)
      for (const f of [...(n.reads ?? []), ...(n.writes ?? [])])
        if (!(f in this.fields)) throw new Stop(`Node "${n.id}" uses undeclared state field "${f}"`)
  }

  async run() {
    let error = ""
    try {
      if (this.concurrency > 1) await this.waves()
      else for (const n of this.kahn()) await this.turn(n)
      for (const p of this.pipelines) await this.pipeline(p)
      for (const l of this.loops) await this.loop(l)
    } catch (e) {
      error = String(e.message ?? e) || "failed"
    }
    const ends = Object.values(this.ended)
    const ok = ends.filter((e) => e === "done").length
    const bad = ends.filter((e) => e === "failed").length
    let status = bad === 0 ? "success" : ok === 0 ? "failed" : "partial"
    if (this.upstream && this.concurrency > 1) status = bad > 0 ? "failed" : ok < this.nodes.length ? "partial" : "success"
    return { status: error ? "failed" : status, finalState: this.state, error }
  }

  // kahn is the order of nodes one after the other: a queue that begins with those that nothing leads to. What comes after a node
  // comes in the order of the nodes.
  kahn() {
    const missing = Object.fromEntries(this.graph.map((n) => [n.id, this.edges.filter((e) => e.to === n.id).length]))
    const queue = this.graph.filter((n) => missing[n.id] === 0)
    for (let i = 0; i < queue.length; i++)
      for (const n of this.graph)
        for (const e of this.edges) if (e.from === queue[i].id && e.to === n.id && --missing[n.id] === 0) queue.push(n)
    return queue
  }

  // waves runs what is ready at the same time, so many at once. All of them see the state as it was, and write in the order of the
  // file.
  async waves() {
    const left = new Set(this.graph)
    while (left.size > 0) {
      const ready = [...left].filter((n) => !this.edges.some((e) => e.to === n.id && left.has(this.byID[e.from])))
      for (const n of ready) left.delete(n)
      while (ready.length > 0) {
        const together = ready.splice(0, this.concurrency)
        const before = clone(this.state)
        const late = []
        for (const n of together) {
          if (!this.open(n)) {
            this.end(n, "skipped")
            continue
          }
          this.late = []
          await this.node(n)
          late.push([n, this.late])
          this.late = undefined
          this.state = clone(before)
        }
        for (const [n, deltas] of late)
          for (const delta of deltas)
            try {
              this.write(n, delta)
            } catch (e) {
              this.end(n, "failed")
              if (this.policy(n).fails) throw e
            }
      }
    }
  }

  end(n, how) {
    const rank = { skipped: 0, done: 1, failed: 2 }
    if (!(n.id in this.ended) || rank[how] > rank[this.ended[n.id]]) this.ended[n.id] = how
  }

  // open reports whether a node may run: all nodes before it did well, and all conditions are true.
  open(n) {
    const to = this.edges.filter((e) => e.to === n.id)
    return to.every((e) => this.ended[e.from] === "done") && [...to, ...this.whens.filter((e) => e.to === n.id)].every((e) => this.holds(e.when))
  }

  async turn(n) {
    if (this.open(n)) await this.node(n)
    else this.end(n, "skipped")
  }

  policy(n) {
    const p = typeof n.on_error === "string" ? { policy: n.on_error } : (n.on_error ?? { policy: this.upstream ? "skip" : "fail_run" })
    return { attempts: p.policy === "retry" ? (p.attempts ?? 3) : 1, fails: p.policy === "fail_run" }
  }

  // node runs a node, for each item of its list when it has one.
  async node(n) {
    if (!n.for_each) {
      const how = await this.once(n, {}, this.inputs(n))
      this.end(n, how.ended)
      if (how.edge !== undefined) this.given[n.id] = how.edge
      return
    }
    const items = this.at(n.for_each.source)
    if (!Array.isArray(items)) throw new Stop(`for_each source of node "${n.id}" is not an array`)
    this.end(n, "done")
    const aside = (n.for_each.concurrency ?? 1) > 1 && !this.late
    const deltas = aside ? (this.late = []) : []
    const before = clone(this.state)
    for (const [index, item] of clone(items).entries()) {
      const how = await this.once(n, { item, index }, this.inputs(n))
      this.end(n, how.ended)
      if (how.edge !== undefined) this.given[n.id] = how.edge
      if (aside) this.state = clone(before)
    }
    if (!aside) return
    this.late = undefined
    for (const delta of deltas)
      try {
        this.write(n, delta)
      } catch (e) {
        this.end(n, "failed")
        if (this.policy(n).fails) throw e
      }
  }

  // once tries a node until it succeeds or its attempts are spent. Writing is part of an attempt.
  async once(n, loop, inputs) {
    const p = this.policy(n)
    for (let attempt = 1; ; attempt++)
      try {
        const { delta, edge } = await this.attempt(n, loop, inputs)
        const kept = clone(this.state)
        this.write(n, delta)
        if (this.late && Object.keys(delta).length > 0) {
          this.late.push(delta)
          this.state = kept
        }
        return { ended: "done", edge }
      } catch (e) {
        if (e instanceof Stop || p.fails) {
          this.end(n, "failed")
          throw e
        }
        if (attempt >= p.attempts) return { ended: "failed" }
      }
  }

  // write merges all fields or none.
  write(n, delta) {
    const next = { ...this.state }
    for (const [name, value] of Object.entries(delta)) {
      const field = own(this.fields, name)
      if (field === undefined) throw new Error(`Node "${n.id}" wrote to undeclared state field "${name}"`)
      const is = Array.isArray(value) ? "array" : typeof value
      if (value !== null && value !== undefined && field.type && field.type !== "null" && field.type !== is) throw new Error(`Node "${n.id}" wrote ${is} to "${name}"`)
      if (field.merge === "set_once" && name in next) throw new Error(`Node "${n.id}" wrote "${name}" a second time`)
      if (field.merge === "array_append") {
        if (!Array.isArray(value)) throw new Error(`Node "${n.id}" appends what is no array`)
        next[name] = [...(next[name] ?? []), ...value]
      } else next[name] = value
    }
    this.state = next
  }

  inputs(n) {
    const out = {}
    for (const e of this.edges) if (e.to === n.id) out[e.from] = this.given[e.from]
    return out
  }

  async attempt(n, loop, inputs) {
    switch (n.kind ?? "tool") {
      case "tool":
        return this.tool(n, loop, inputs)
      case "dataset":
        return { delta: { [n.writes[0]]: records(n.source) } }
      case "experience":
        return this.child(n)
    }
    const visible = this.visible(n, loop, inputs)
    if (n.kind === "skill") {
      const text = readFileSync(path.resolve(this.dir, n.impl), "utf8").replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n(\r?\n)*/, "")
      return { delta: { [n.writes[0]]: await ask(n.model, text, JSON.stringify(visible, null, 2)) } }
    }
    const prompt = this.fill(readFileSync(path.resolve(this.dir, n.prompt), "utf8"), n, visible, loop)
    if (!n.schema) return { delta: { [n.writes[0]]: await ask(n.model, "", prompt) } }
    const answer = JSON.parse(await ask(n.model, "", prompt, n.schema))
    fits(n.schema, answer, "")
    if (!plain(answer)) throw new Error("the answer is no object")
    return { delta: answer }
  }

  // child runs another experience. One that ends in an error fails the node; any other outcome is handed on.
  async child(n) {
    const { status, finalState, error } = await new Experience(n.experience, this.upstream, n.dir).run()
    if (error) throw new Error(error)
    return { delta: {}, edge: { runId: n.id, status, finalState } }
  }

  // names are what a loop calls its item, under the engine's rule without those of the page.
  names(loop, prompt) {
    const out = {}
    const put = (value, ...names) => {
      if (value !== undefined) for (const name of names) if (!this.upstream || name[0] !== "_") out[name] = value
    }
    put(loop.item, "$item", "_item")
    put(loop.index, "$index", "_item_index")
    put(loop.pipeline, "$pipeline")
    put(loop.iter, "$iter")
    put(loop.loop, "$loop")
    return out
  }

  async tool(n, loop, inputs) {
    const file = pathToFileURL(path.resolve(this.dir, n.impl)).href
    const f = (await import(file)).default
    const seen = {}
    for (const name of this.upstream ? (n.reads ?? []) : Object.keys(this.fields)) if (name in this.state) seen[name] = this.state[name]
    const args = { ...this.resolve(n.args ?? {}), ...this.names(loop), _edge_inputs: inputs, _state: seen }
    const out = clone(await f(clone(args)))
    if (!plain(out)) throw new Error(`Tool "${n.id}" default export must return an object`)
    const delta = out.state_delta ?? {}
    if (!plain(delta) || (!("state_delta" in out) && !this.upstream)) throw new Error(`Tool "${n.id}" default export must return an object with at least { state_delta }`)
    return { delta, edge: out.edge_output }
  }

  // visible is what a model is told of: what its node reads, what nodes before it gave, its args, and its item.
  visible(n, loop, inputs) {
    const out = {}
    for (const name of n.reads ?? []) if (name in this.state) out[name] = this.state[name]
    for (const [id, value] of Object.entries(inputs)) if (value !== undefined) out[id] = value
    Object.assign(out, clone(this.resolve(n.args ?? {})))
    for (const [name, value] of Object.entries(this.names(loop))) if (name[0] === "$") out[name] = value
    return out
  }

  // fill substitutes names, and unless the engine's rule holds paths, loop variables and lengths.
  fill(text, n, visible, loop) {
    const all = { ...visible, ...this.names(loop) }
    if (this.upstream) return text.replace(/\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g, (whole, name) => show(own(all, name), whole))
    return text.replace(/\{\{\s*(\$?[A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*(\|\s*length)?\s*\}\}/g, (whole, name, rest, length) => {
      let value = own(all, name)
      for (const key of rest.split(".").slice(1)) value = step(value, key)
      if (length && value !== undefined) value = Array.isArray(value) || typeof value === "string" ? value.length : 0
      return show(value, whole)
    })
  }

  // resolve puts values in place of paths.
  resolve(v) {
    if (typeof v === "string" && /^\$(\.[A-Za-z_][A-Za-z0-9_]*)+$/.test(v)) return clone(this.at(v))
    if (Array.isArray(v)) return v.map((x) => this.resolve(x))
    if (plain(v)) return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, this.resolve(x)]))
    return v
  }

  at(p) {
    return p.split(".").slice(1).reduce(step, this.state)
  }

  async pipeline(p) {
    const items = this.at(p.items)
    if (!Array.isArray(items)) throw new Stop(`items of pipeline "${p.id}" is not an array`)
    for (const [index, item] of clone(items).entries()) {
      let inputs = {}
      for (const [i, id] of p.stages.entries()) {
        const how = await this.once(this.byID[id], { item, index, pipeline: p.id }, inputs)
        this.end(this.byID[id], how.ended)
        if (how.edge === undefined && i < p.stages.length - 1) break
        inputs = { [id]: how.edge }
      }
    }
  }

  async loop(l) {
    for (let iter = 0; iter < (l.max_iters ?? 100) && !(l.until !== undefined && this.holds(l.until)); iter++)
      for (const id of [l.body].flat()) {
        const how = await this.once(this.byID[id], { iter, loop: l.id }, {})
        this.end(this.byID[id], how.ended)
      }
  }

  holds(when) {
    return when === undefined || typeof when === "boolean" ? when !== false : Boolean(new Condition(when, this.state).or())
  }
}

// step is a part of a value by its name.
function step(v, key) {
  return typeof v === "object" && v !== null ? v[key] : undefined
}

// show is a value in a prompt; absent ones leave what is written.
function show(value, whole) {
  return value === undefined ? whole : typeof value === "string" ? value : JSON.stringify(value)
}

// A Condition is read while it is evaluated: both sides always are.
class Condition {
  constructor(text, state) {
    this.state = state
    this.tokens = text.match(/\$\.[\w.]*|-?\d[\d.]*|'[^']*'|"[^"]*"|[A-Za-z_]\w*|==|!=|>=|<=|&&|\|\||[<>()]/g) ?? []
  }
  take(...words) {
    return words.includes(this.tokens[0]) ? this.tokens.shift() : undefined
  }
  or() {
    let left = this.and()
    while (this.take("||")) {
      const right = this.and()
      left = Boolean(left) || Boolean(right)
    }
    return left
  }
  and() {
    let left = this.comparison()
    while (this.take("&&")) {
      const right = this.comparison()
      left = Boolean(left) && Boolean(right)
    }
    return left
  }
  comparison() {
    const a = this.operand()
    const op = this.take("==", "!=", ">", "<", ">=", "<=")
    if (!op) return a
    const b = this.operand()
    if (a === undefined || b === undefined) return op === "!=" && (a === undefined) !== (b === undefined)
    switch (op) {
      case "==":
        return a === b
      case "!=":
        return a !== b
      case ">":
        return a > b
      case "<":
        return a < b
      case ">=":
        return a >= b
    }
    return a <= b
  }
  operand() {
    const t = this.tokens.shift() ?? ""
    if (t === "(") {
      const v = this.or()
      this.take(")")
      return v
    }
    if (t === "length") {
      this.take("(")
      const v = this.operand()
      this.take(")")
      return Array.isArray(v) || typeof v === "string" ? v.length : 0
    }
    if (t.startsWith("$.")) return t.slice(2).split(".").reduce(step, this.state)
    if (t === "true" || t === "false") return t === "true"
    if (t[0] === "'" || t[0] === '"') return t.slice(1, -1)
    return Number(t)
  }
}

function records(source) {
  const text = readFileSync(source.uri, "utf8").replace(/^\ufeff/, "")
  const format = source.format ?? path.extname(source.uri).slice(1)
  if (format === "csv") {
    const [head, ...rows] = cells(text)
    return rows.map((r) => Object.fromEntries(head.slice(0, r.length).map((k, i) => [k, r[i]])))
  }
  if (format === "jsonl") return text.split(/\r?\n/).filter((l) => l.trim() !== "").map((l) => JSON.parse(l))
  const v = JSON.parse(text)
  if (!Array.isArray(v)) throw new Error("no array")
  return v
}

// cells are the rows of a CSV file; quotes hold separators, line breaks, and quotes that are doubled.
function cells(text) {
  const rows = []
  let row = []
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g)) {
    if (end === "" && row.length === 0 && !quoted && !plain) break
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ",") continue
    if (row.length > 1 || row[0] !== "") rows.push(row)
    row = []
  }
  return rows
}

// ask asks a model; with a schema the answer is the argument of one tool.
async function ask(model, system, prompt, schema) {
  const messages = [{ role: "user", content: prompt }]
  if (system) messages.unshift({ role: "system", content: system })
  const body = { model: model.replace(/^openai:/, ""), max_tokens: 4096, messages }
  if (schema) {
    body.tools = [{ type: "function", function: { name: "structured_output", parameters: schema } }]
    body.tool_choice = { type: "function", function: { name: "structured_output" } }
  }
  const r = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })
  if (!r.ok) throw new Error(`the model answered ${r.status}`)
  const answer = (await r.json()).choices[0].message
  return schema ? answer.tool_calls[0].function.arguments : answer.content
}

// fits throws when a value does not fit the part of JSON Schema that documents here use.
function fits(s, v, at) {
  const is = v === null ? "null" : Array.isArray(v) ? "array" : typeof v
  const type = s.type === "integer" ? "number" : s.type
  if (type && type !== is) throw new Error(`${at}: ${is} instead of ${s.type}`)
  if (s.enum && !s.enum.includes(v)) throw new Error(`${at}: none of ${s.enum}`)
  if (is === "object") {
    for (const k of s.required ?? []) if (!Object.hasOwn(v, k)) throw new Error(`${at}: ${k} is missing`)
    for (const [k, p] of Object.entries(s.properties ?? {})) if (Object.hasOwn(v, k)) fits(p, v[k], `${at}/${k}`)
  }
  if (is === "array" && s.items) for (const x of v) fits(s.items, x, at)
}

const job = JSON.parse(readFileSync(0, "utf8"))
const print = console.log
console.log = () => {}
let out
try {
  out = await new Experience(job.experience, job.upstream, ".").run()
} catch (e) {
  out = { error: String(e.message ?? e) }
}
print(JSON.stringify(out))
