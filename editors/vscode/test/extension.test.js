// Tests of the extension in plain node: stubs stand for `vscode` and for the client, which need an editor. `npm test` runs them.
const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const Module = require("node:module");

class Emitter {
  constructor() {
    this.heard = [];
    this.event = (f) => (this.heard.push(f), { dispose() {} });
  }
  fire(x) {
    for (const f of this.heard) f(x);
  }
}

class Uri {
  constructor(text) {
    this.text = text;
    this.fsPath = decodeURIComponent(text.replace(/^file:\/\//, ""));
  }
  toString() {
    return this.text;
  }
  static parse(text) {
    return new Uri(text);
  }
  static from({ scheme, path, query }) {
    return new Uri(`${scheme}:${path}?${query}`);
  }
}

class Range {
  constructor(startLine, startCharacter, endLine, endCharacter) {
    Object.assign(this, { startLine, startCharacter, endLine, endCharacter });
  }
}

class ProcessExecution {
  constructor(process, args, options) {
    Object.assign(this, { process, args, options });
  }
}

class Task {
  constructor(definition, scope, name, source, execution, matchers) {
    Object.assign(this, { definition, scope, name, source, execution, matchers });
  }
}

class Items extends Map {
  add(item) {
    this.set(item.id, item);
  }
  forEach(f) {
    for (const item of this.values()) f(item);
  }
}

// temporary makes a folder that is removed at the end.
function temporary(prefix) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), prefix));
  process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// editor starts the extension with settings, and answers of the server by method.
async function editor({ settings = {}, answers = {}, folder = temporary("a folder-"), documents = [], found = [] } = {}) {
  const seen = { commands: {}, tasks: [], providers: {}, errors: [], languages: [], runs: [], requests: [], watched: [], saved: new Emitter(), opened: new Emitter(), moved: new Emitter() };
  const vscode = {
    EventEmitter: Emitter,
    Uri,
    Range,
    ProcessExecution,
    Task,
    TaskScope: { Workspace: 2 },
    ViewColumn: { Beside: -2 },
    TextEditorRevealType: { InCenter: 2 },
    TestRunProfileKind: { Run: 1 },
    TestMessage: class {
      constructor(message) {
        this.message = message;
      }
    },
    workspace: {
      textDocuments: documents,
      getConfiguration: (section) => ({ get: (key) => settings[section + "." + key] }),
      createFileSystemWatcher: (pattern) => (seen.watched.push(pattern), {}),
      registerTextDocumentContentProvider: (scheme, provider) => ((seen.providers[scheme] = provider), {}),
      findFiles: async (pattern) => (assert.equal(pattern, "**/*.test.yaml"), found),
      openTextDocument: async (uri) => {
        const document = { uri, text: seen.providers.flowgen.provideTextDocumentContent(uri) };
        documents.push(document);
        seen.opened.fire(document);
        return document;
      },
      onDidSaveTextDocument: seen.saved.event,
      onDidOpenTextDocument: seen.opened.event,
    },
    window: {
      visibleTextEditors: [],
      showErrorMessage: (message) => seen.errors.push(message),
      showTextDocument: async (document, options) => Object.assign(seen, { shown: document, options }),
      onDidChangeTextEditorSelection: seen.moved.event,
    },
    languages: { setTextDocumentLanguage: async (document, id) => seen.languages.push(id) },
    commands: { registerCommand: (name, f) => ((seen.commands[name] = f), {}) },
    tasks: { executeTask: (task) => seen.tasks.push(task), registerTaskProvider: (type, provider) => ((seen.providers[type + " tasks"] = provider), {}) },
    tests: {
      createTestController: () => ({
        items: new Items(),
        createTestItem: (id, label, uri) => ({ id, label, uri, children: new Items() }),
        createRunProfile(label, kind, run) {
          seen.run = run;
          seen.controller = this;
        },
        createTestRun: () => {
          const run = { results: {}, output: "", started() {}, appendOutput: (text) => (run.output += text), passed: (item) => (run.results[item.id] = "passed"), failed: (item, m) => (run.results[item.id] = m.message), end: () => (run.ended = true) };
          seen.runs.push(run);
          return run;
        },
      }),
    },
  };
  class LanguageClient {
    constructor(id, name, server, options) {
      Object.assign(seen, { server, client: options });
    }
    async start() {
      seen.started = true;
    }
    async stop() {
      seen.stopped = true;
    }
    async sendRequest(method, params) {
      seen.requests.push([method, params]);
      const answer = answers[method];
      if (!answer) throw new Error("no " + method);
      return typeof answer === "function" ? answer(params) : answer;
    }
  }
  const load = Module._load;
  Module._load = function (name, ...rest) {
    if (name === "vscode") return vscode;
    if (name === "vscode-languageclient/node") return { LanguageClient };
    return load.call(this, name, ...rest);
  };
  const file = require.resolve("../extension.js");
  delete require.cache[file];
  const extension = require(file);
  Module._load = load;
  const context = { subscriptions: [], asAbsolutePath: (name) => path.join(folder, name) };
  await extension.activate(context);
  return { seen, vscode, folder, extension };
}

test("the program is that of the settings, then that of the extension, then that of the PATH", async () => {
  const bare = await editor();
  assert.equal(bare.seen.server.command, "flowgen");
  const bundled = temporary("bundled-");
  const own = path.join(bundled, "bin", process.platform === "win32" ? "flowgen.exe" : "flowgen");
  fs.mkdirSync(path.dirname(own));
  fs.writeFileSync(own, "");
  assert.equal((await editor({ folder: bundled })).seen.server.command, own);
  assert.equal((await editor({ folder: bundled, settings: { "flowgen.path": "/opt/flowgen" } })).seen.server.command, "/opt/flowgen");
});

test("the client says which commands it has, and takes Go files when asked only", async () => {
  const { seen, extension } = await editor();
  assert.deepEqual(seen.server.args, ["lsp"]);
  assert.ok(seen.started);
  assert.deepEqual(seen.client.initializationOptions, { commands: ["flowgen.terminal", "flowgen.show"] });
  for (const command of seen.client.initializationOptions.commands) assert.ok(seen.commands[command], command);
  assert.ok(!seen.client.documentSelector.some((s) => s.language === "go"));
  const matches = (name) => seen.client.documentSelector.some((s) => s.pattern === name);
  assert.ok(matches("**/flowgen.lock") && !matches("graphs/*.yaml"));
  assert.ok((await editor({ settings: { "flowgen.files": ["graphs/*.yaml"] } })).seen.client.documentSelector.some((s) => s.pattern === "graphs/*.yaml"));
  assert.ok(seen.watched.includes("**/*.go") && seen.watched.includes("**/*.flowgen.yaml"));
  assert.ok((await editor({ settings: { "flowgen.inGoFiles": true } })).seen.client.documentSelector.some((s) => s.language === "go"));
  await extension.deactivate();
  assert.ok(seen.stopped);
});

test("a lens runs its command line as a task, its arguments not through a shell", async () => {
  const { seen } = await editor({ settings: { "flowgen.path": "/opt/flowgen" } });
  seen.commands["flowgen.terminal"]({ cwd: "file:///work%20here", args: ["flowgen", "run", "a; rm -rf x.flowgen.yaml"] });
  const [task] = seen.tasks;
  assert.ok(task.execution instanceof ProcessExecution);
  assert.equal(task.execution.process, "/opt/flowgen");
  assert.deepEqual(task.execution.args, ["run", "a; rm -rf x.flowgen.yaml"]);
  assert.equal(task.execution.options.cwd, "/work here");
  assert.deepEqual(task.matchers, ["$flowgen"]);
  const offered = seen.providers["flowgen tasks"].provideTasks();
  assert.deepEqual(offered.map((t) => t.definition.args[0]), ["check", "test", "generate"]);
});

test("the generated Go stands beside its workflow, follows the cursor, and is made again when the workflow is saved", async () => {
  let text = "package one";
  const { seen, vscode } = await editor({ answers: { "workspace/executeCommand": () => ({ languageId: "go", text, lines: [{ workflow: 3, shown: 40 }, { workflow: 7, shown: 90 }] }) } });
  const flow = "file:///w/x.flowgen.yaml";
  await seen.commands["flowgen.show"]({ command: "flowgen.generated", arguments: [flow], title: "generated Go" });
  assert.deepEqual(seen.requests.at(-1), ["workspace/executeCommand", { command: "flowgen.generated", arguments: [flow] }]);
  assert.equal(seen.shown.text, "package one");
  assert.equal(seen.options.viewColumn, vscode.ViewColumn.Beside);
  assert.deepEqual(seen.languages, ["go"]);
  const revealed = [];
  vscode.window.visibleTextEditors = [{ document: seen.shown, revealRange: (range) => revealed.push(range.startLine) }];
  const move = (line, uri = flow) => seen.moved.fire({ textEditor: { document: { uri: Uri.parse(uri) } }, selections: [{ active: { line } }] });
  for (const line of [1, 3, 6, 9]) move(line);
  move(9, "file:///w/other.flowgen.yaml");
  assert.deepEqual(revealed, [40, 40, 90]);
  text = "package two";
  seen.saved.fire({ uri: Uri.parse(flow) });
  await new Promise(setImmediate);
  assert.equal(seen.providers.flowgen.provideTextDocumentContent(seen.shown.uri), "package two");
});

test("a document that cannot be made is an error message", async () => {
  const { seen } = await editor();
  await seen.commands["flowgen.show"]({ command: "flowgen.plan", arguments: ["file:///w/x.flowgen.yaml"], title: "plan" });
  assert.deepEqual(seen.errors, ["no workspace/executeCommand"]);
});

test("the cases of a test file stand in the test explorer and run one by one", { skip: process.platform === "win32" }, async () => {
  const folder = temporary("cases-");
  const program = path.join(folder, "flowgen");
  fs.writeFileSync(program, '#!/bin/sh\necho "$@"\n[ "$3" != x.test.yaml:bad ]\n', { mode: 0o755 });
  const uri = new Uri("file://" + path.join(folder, "x.test.yaml"));
  const symbol = (name, line) => ({ name, selectionRange: { start: { line }, end: { line } } });
  const { seen } = await editor({ settings: { "flowgen.path": program }, found: [uri], answers: { "textDocument/documentSymbol": [symbol("good", 1), symbol("bad", 5)] } });
  await new Promise(setImmediate);
  const file = seen.controller.items.get(uri.toString());
  assert.deepEqual([...file.children.keys()], ["good", "bad"]);
  assert.equal(file.children.get("bad").range.startLine, 5);
  await seen.run({});
  const [run] = seen.runs;
  assert.equal(run.results.good, "passed");
  assert.equal(run.results.bad, "test --run x.test.yaml:bad x.test.yaml\n");
  assert.ok(run.ended && run.output.includes("test --run x.test.yaml:good x.test.yaml\r\n"));
});

test("the manifest names files that are there, runs nothing on installation, and matches what check prints", () => {
  const root = path.join(__dirname, "..");
  const pack = JSON.parse(fs.readFileSync(path.join(root, "package.json")));
  for (const name of Object.keys(pack.scripts)) assert.ok(!/install|prepare|uninstall/.test(name), name);
  assert.equal(pack.dependencies, undefined); // all that it needs is bundled
  assert.equal(pack.capabilities.untrustedWorkspaces.supported, false);
  const c = pack.contributes;
  for (const file of [...c.grammars, ...c.snippets].map((x) => x.path).concat(c.languages.map((l) => l.configuration))) JSON.parse(fs.readFileSync(path.join(root, file)));
  const [head, place] = c.problemMatchers[0].pattern.map((p) => new RegExp(p.regexp));
  assert.deepEqual([...'error[FG0301]: name "dif" is not defined'.match(head)].slice(1), ["error", "FG0301", 'name "dif" is not defined']);
  assert.deepEqual([..."  --> flows/x.flowgen.yaml:7:4".match(place)].slice(1), ["flows/x.flowgen.yaml", "7", "4"]);
});
