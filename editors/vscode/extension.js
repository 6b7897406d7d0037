// Starts `flowgen lsp` for workflows and what belongs to them, and has the commands of its lenses.
const fs = require("fs");
const path = require("path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

// program is what the settings name, or else the one in the extension, or else the one on the PATH.
function program(context) {
  const named = vscode.workspace.getConfiguration("flowgen").get("path");
  if (named) return named;
  const own = context.asAbsolutePath(path.join("bin", process.platform === "win32" ? "flowgen.exe" : "flowgen"));
  return fs.existsSync(own) ? own : "flowgen";
}

// task runs flowgen with arguments, each one of them quoted by VS Code.
function task(context, title, args, cwd) {
  const definition = { type: "flowgen", args };
  const run = new vscode.ProcessExecution(program(context), args, { cwd });
  return new vscode.Task(definition, vscode.TaskScope.Workspace, title, "flowgen", run, ["$flowgen"]);
}

// A shown document is what a command of the server has made, beside its workflow; the cursor of one moves the other.
class Documents {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChange = this.changed.event;
    this.texts = new Map();
  }

  provideTextDocumentContent(uri) {
    return this.texts.get(uri.toString())?.text ?? "";
  }

  async show({ command, arguments: args, title }) {
    const uri = vscode.Uri.from({ scheme: "flowgen", path: "/" + title, query: args[0] });
    await this.fill(uri, command, args);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, this.texts.get(uri.toString()).languageId);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
  }

  async fill(uri, command, args) {
    const answer = await client.sendRequest("workspace/executeCommand", { command, arguments: args });
    this.texts.set(uri.toString(), { ...answer, command, args });
    this.changed.fire(uri);
  }

  async saved(document) {
    for (const [key, shown] of this.texts) {
      if (shown.args[0] !== document.uri.toString()) continue;
      if (!vscode.workspace.textDocuments.some((d) => d.uri.toString() === key)) this.texts.delete(key);
      else await this.fill(vscode.Uri.parse(key), shown.command, shown.args).catch(() => {}); // a file with mistakes has no Go
    }
  }

  follow({ textEditor, selections }) {
    const from = textEditor.document.uri.toString();
    for (const [key, shown] of this.texts) {
      const other = vscode.window.visibleTextEditors.find((e) => e.document.uri.toString() === key);
      if (!other || shown.args[0] !== from) continue;
      const line = selections[0].active.line;
      const pair = shown.lines.filter((p) => p.workflow <= line).sort((a, b) => b.workflow - a.workflow)[0];
      if (pair) other.revealRange(new vscode.Range(pair.shown, 0, pair.shown, 0), vscode.TextEditorRevealType.InCenter);
    }
  }
}

const mostTests = 500; // files that are looked through for cases

// tests lists the cases of the workspace's *.test.yaml and runs them with `flowgen test`.
async function tests(context) {
  const controller = vscode.tests.createTestController("flowgen", "flowgen");
  const read = async (uri) => {
    const symbols = await client.sendRequest("textDocument/documentSymbol", { textDocument: { uri: uri.toString() } }).catch(() => []);
    const file = controller.createTestItem(uri.toString(), path.basename(uri.fsPath), uri);
    for (const s of symbols ?? []) {
      const item = controller.createTestItem(s.name, s.name, uri);
      item.range = new vscode.Range(s.selectionRange.start.line, 0, s.selectionRange.end.line, 0);
      file.children.add(item);
    }
    controller.items.add(file);
  };
  const run = async (request) => {
    const result = controller.createTestRun(request);
    const cases = [];
    const collect = (item) => (item.children.size ? item.children.forEach(collect) : cases.push(item));
    (request.include ?? [...controller.items].map(([, item]) => item)).forEach(collect);
    for (const item of cases) {
      result.started(item);
      const ended = await new Promise((done) => {
        const cwd = path.dirname(item.uri.fsPath);
        const name = path.basename(item.uri.fsPath);
        require("child_process").execFile(program(context), ["test", "--run", name + ":" + item.id, name], { cwd }, (error, out, err) => done({ error, text: out + err }));
      });
      result.appendOutput(ended.text.replace(/\r?\n/g, "\r\n"));
      if (ended.error) result.failed(item, new vscode.TestMessage(ended.text));
      else result.passed(item);
    }
    result.end();
  };
  controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, run, true);
  const watched = (document) => document.uri.fsPath.endsWith(".test.yaml") && read(document.uri);
  context.subscriptions.push(controller, vscode.workspace.onDidOpenTextDocument(watched), vscode.workspace.onDidSaveTextDocument(watched));
  vscode.workspace.textDocuments.forEach(watched);
  const open = new Set(vscode.workspace.textDocuments.map((d) => d.uri.toString()));
  for (const uri of await vscode.workspace.findFiles("**/*.test.yaml", "**/node_modules/**", mostTests)) {
    if (!open.has(uri.toString())) await vscode.workspace.openTextDocument(uri).catch(() => {}); // which reads its cases
  }
}

exports.activate = async function (context) {
  const files = ["**/*.flowgen.yaml", "**/*.test.yaml", "**/flowgen.bindings.yaml", "**/flowgen.lock", "**/*.go", "**/go.mod", "**/*.py", "**/*.md"];
  const selector = [
    { scheme: "file", language: "flowgen" },
    { scheme: "file", pattern: "**/*.test.yaml" },
    { scheme: "file", pattern: "**/prompts/**" },
    { scheme: "file", pattern: "**/flowgen.lock" },
    ...(vscode.workspace.getConfiguration("flowgen").get("files") ?? []).map((pattern) => ({ scheme: "file", pattern })),
  ];
  if (vscode.workspace.getConfiguration("flowgen").get("inGoFiles")) selector.push({ scheme: "file", language: "go" });
  client = new LanguageClient(
    "flowgen",
    "flowgen",
    { command: program(context), args: ["lsp"] },
    {
      documentSelector: selector,
      initializationOptions: { commands: ["flowgen.terminal", "flowgen.show"] },
      synchronize: { fileEvents: files.map((f) => vscode.workspace.createFileSystemWatcher(f)) },
    },
  );
  const documents = new Documents();
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider("flowgen", documents),
    vscode.commands.registerCommand("flowgen.show", (what) => documents.show(what).catch((e) => vscode.window.showErrorMessage(e.message))),
    vscode.commands.registerCommand("flowgen.terminal", ({ cwd, args }) =>
      vscode.tasks.executeTask(task(context, args.slice(1).join(" "), args.slice(1), vscode.Uri.parse(cwd).fsPath)),
    ),
    vscode.workspace.onDidSaveTextDocument((d) => documents.saved(d)),
    vscode.window.onDidChangeTextEditorSelection((e) => documents.follow(e)),
    vscode.tasks.registerTaskProvider("flowgen", {
      provideTasks: () => [task(context, "check", ["check", "./..."]), task(context, "test", ["test", "./..."]), task(context, "generate", ["generate", "./..."])],
      resolveTask: (t) => task(context, t.name, t.definition.args),
    }),
  );
  await client.start();
  await tests(context);
};

exports.deactivate = () => client && client.stop();
