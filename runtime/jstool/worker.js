// The worker of JavaScript tools. It is sent to Node in the first frame and uses Node's own modules only.
// Frames: see ../worker/frame.go.
(function (require, importModule, values) {
  "use strict";
  const { encode, describe, wordOf, attachment, attached, Refused, TAIL } = values;
  const fs = require("fs");
  const net = require("net");
  const util = require("util");
  const { AsyncLocalStorage } = require("async_hooks");

  const [ASSET, CALL, CANCEL, READY, RESULT, ERROR, RUNS, BESIDE, LOGS] = Array.from("ACXHREKTP", (c) => c.charCodeAt(0));

  const major = Number(process.versions.node.split(".")[0]);
  if (major < 18) {
    console.error("Node 18 or newer is needed, this is " + process.versions.node);
    process.exit(1);
  }

  // Frames. What tools may replace in this realm is taken now.

  const { parse } = JSON;
  const writeSync = fs.writeSync;
  const exit = process.exit.bind(process);
  const { setTimeout, clearTimeout } = globalThis;
  const now = Date.now;
  const PAUSE = 20; // ms between what a call sends by itself

  function write(id, kind, text) {
    const size = text === undefined ? 0 : Buffer.byteLength(text);
    const b = Buffer.allocUnsafe(size + 9);
    b.writeUInt32BE(size + 5, 0);
    b.writeUInt32BE(id, 4);
    b[8] = kind;
    if (size > 0) b.write(text, 9, size, "utf8");
    for (let i = 0; i < b.length; ) i += writeSync(4, b, i, b.length - i);
  }

  // Calls.

  const storage = new AsyncLocalStorage();
  const modules = new Map(); // key -> {name, url, main: promise or function}
  const running = new Map(); // id -> call

  class Call {
    constructor(id, q) {
      this.id = id;
      this.limit = q.m;
      this.loose = q.j;
      this.given = q.c;
      this.output = "";
      this.told = q.p; // what it prints is sent
      this.held = ""; // printed, not sent: while its module is loaded, or because it prints much
      this.sent = 0; // when it has sent last
      this.timer = undefined; // that sends the rest
      this.loading = false;
      this.abort = undefined;
      this.attached = [];
    }
    say(text) {
      if (this.told) {
        this.held += text;
        if (this.loading) this.held = this.held.slice(-TAIL);
        else tellSoon(this);
      }
      this.output += text;
      if (this.output.length > 2 * TAIL) this.output = this.output.slice(-TAIL);
    }
  }

  // Context is the second argument of a tool: secrets by name, who the call is, a signal that says that it must end, and
  // attach for what stands beside the result.
  class Context {
    #call;
    constructor(call) {
      this.#call = call;
    }
    get auth() { return this.#call.given?.auth ?? {}; }
    get call_id() { return this.#call.given?.call_id ?? ""; }
    get tenant_id() { return this.#call.given?.tenant_id ?? ""; }
    get idempotency_key() { return this.#call.given?.idempotency_key; }
    attach(a) { attachment(this.#call.attached, a); }
    get signal() {
      this.#call.abort ??= new AbortController();
      return this.#call.abort.signal;
    }
  }

  const own = (line) => !/flowgen:worker|node:internal/.test(line);

  function fail(call, e) {
    end(call, ERROR, describe(e, call.output, own));
  }

  function end(call, kind, body) {
    if (!running.has(call.id)) return;
    tell(call);
    running.delete(call.id);
    if (kind === RESULT && call.attached.length > 0) write(call.id, BESIDE, attached(call.attached));
    write(call.id, kind, body);
  }

  function answer(call, name, v) {
    let body;
    try {
      body = encode(name, v, call.loose);
      if (body.length > call.limit || (body.length * 3 > call.limit && Buffer.byteLength(body) > call.limit)) {
        throw new Refused("POLICY_DENIED", "the result of " + name + " has " + Buffer.byteLength(body) + " bytes, at most " +
          call.limit + " are allowed: raise max_output", { max_output: call.limit });
      }
    } catch (e) {
      fail(call, e);
      return;
    }
    end(call, RESULT, body);
  }

  // tellSoon sends what a call has printed: at once, or after a pause what comes too soon after that.
  function tellSoon(call) {
    const at = now();
    if (call.held.length > TAIL || at - call.sent >= PAUSE || at < call.sent) {
      call.sent = at;
      tell(call);
    } else {
      call.timer ??= setTimeout(tell, PAUSE, call);
    }
  }

  // tell sends it in pieces that a frame may have.
  function tell(call) {
    const text = call.held;
    call.held = "";
    clearTimeout(call.timer);
    call.timer = undefined;
    if (!running.has(call.id)) return;
    for (let i = 0; i < text.length; i += TAIL) write(call.id, LOGS, text.slice(i, i + TAIL));
  }

  async function load(m) {
    let found;
    const first = storage.getStore();
    if (first) first.loading = true;
    try {
      found = await importModule(m.u);
    } catch (e) {
      m.main = undefined;
      throw new Refused("SANDBOX_ERROR", "Cannot import module '" + m.n + "': " + wordOf(e));
    }
    m.u = undefined;
    // What a module prints is no call's, or which call has it would depend on which comes first; of one that fails it is.
    const call = storage.getStore();
    if (call?.output) storage.exit(() => process.stdout.write(call.output));
    if (call) {
      call.output = call.held = "";
      call.loading = false;
    }
    if (typeof found.default !== "function") {
      throw new Refused("SANDBOX_ERROR", "Module '" + m.n + "' has no default export that is a function");
    }
    return (m.main = found.default);
  }

  function perform(call, q) {
    const m = modules.get(q.k);
    try {
      if (typeof m.main !== "function") {
        m.main ??= load(m);
        m.main.then((main) => invoke(call, m, main, q.a)).catch((e) => fail(call, e));
        return;
      }
      invoke(call, m, m.main, q.a);
    } catch (e) {
      fail(call, e);
    }
  }

  function invoke(call, m, main, args) {
    const v = main(args, new Context(call));
    if (typeof v?.then === "function") v.then((r) => answer(call, m.n, r), (e) => fail(call, e));
    else answer(call, m.n, v);
  }

  function take(id, kind, body) {
    if (kind === CALL) {
      const q = parse(body);
      const call = new Call(id, q);
      running.set(id, call);
      storage.run(call, perform, call, q);
    } else if (kind === ASSET) {
      const m = parse(body);
      modules.set(m.k, m);
    } else if (kind === CANCEL) {
      const call = running.get(id);
      if (call === undefined) return;
      (call.abort ??= new AbortController()).abort();
      setTimeout(() => running.has(id) && write(id, RUNS), 100);
    }
  }

  // Output: the end of what a call prints is kept for the error it may end with.

  for (const name of ["stdout", "stderr"]) {
    const stream = process[name];
    const real = stream.write;
    stream.write = function (chunk, encoding, done) {
      const call = storage.getStore();
      if (call === undefined) return real.apply(stream, arguments);
      call.say(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
      done = typeof encoding === "function" ? encoding : done;
      if (typeof done === "function") process.nextTick(done);
      return true;
    };
  }
  const print = (...a) => process.stdout.write(util.format(...a) + "\n");
  for (const name of ["log", "info", "debug", "warn", "error", "trace"]) console[name] = print;

  // An error that nobody can catch must not end the calls of others; the one it belongs to fails.
  process.on("uncaughtException", (e) => {
    const call = storage.getStore();
    if (call !== undefined && running.has(call.id)) fail(call, e);
    else process.stderr.write(wordOf(e) + "\n");
  });

  // Input.

  const head = Buffer.alloc(9); // of a frame that has not come whole
  let headed = 0;
  let body = null; // of it, once the head is there
  let have = 0;
  function feed(n, chunk) {
    let i = 0;
    while (i < n) {
      if (headed === 0 && n - i >= 9) {
        const size = chunk.readUInt32BE(i) - 5;
        if (n - i - 9 >= size) {
          take(chunk.readUInt32BE(i + 4), chunk[i + 8], chunk.toString("utf8", i + 9, i + 9 + size));
          i += size + 9;
          continue;
        }
      }
      if (headed < 9) {
        const k = Math.min(9 - headed, n - i);
        chunk.copy(head, headed, i, i + k);
        headed += k;
        i += k;
        if (headed < 9) return true;
        body = Buffer.allocUnsafe(head.readUInt32BE(0) - 5);
        have = 0;
      }
      const k = Math.min(body.length - have, n - i);
      chunk.copy(body, have, i, i + k);
      have += k;
      i += k;
      if (have === body.length) {
        const whole = body;
        headed = 0;
        body = null;
        take(head.readUInt32BE(4), head[8], whole.toString("utf8"));
      }
    }
    return true;
  }
  const input = new net.Socket({
    fd: 3, readable: true, writable: false,
    onread: { buffer: Buffer.alloc(256 << 10), callback: feed },
  });
  const gone = () => exit(0); // the program is gone or wants no more
  input.on("end", gone);
  input.on("close", gone);
  input.on("error", gone);
  input.resume();
  globalThis.require ??= require;
  write(0, READY);
})
