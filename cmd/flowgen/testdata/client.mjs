// A client of `flowgen lsp` with Microsoft's own connection and request types. It asks for everything that Neovim 0.7 does not know, in
// UTF-8 columns, and writes the answers as TypeScript, for the compiler to hold them to the protocol's types.
//
//   node client.mjs FLOWGEN FOLDER ANSWERS, with LSP_CLIENT=node_modules
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [flowgen, folder, out] = process.argv.slice(2);
const require = createRequire(join(process.env.LSP_CLIENT, "x.js"));
const lsp = require("vscode-languageserver-protocol/node");

const server = spawn(flowgen, ["lsp"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin));
const published = [];
let told = () => {};
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => {
  published.push(p);
  told();
});
connection.onUnhandledNotification((n) => fail("the server says " + n.method));
connection.listen();

function fail(what) {
  console.error(what);
  process.exit(1);
}
function must(ok, what, got) {
  if (!ok) fail(what + ": " + JSON.stringify(got));
}

const answers = [];
function answer(type, value) {
  answers.push(`export const a${answers.length}: lsp.${type} = ${JSON.stringify(value)};`);
  return value;
}

const uri = (name) => pathToFileURL(join(folder, name)).href;
const name = "shop.flowgen.yaml";
const text = readFileSync(join(folder, name), "utf8");
const document = { uri: uri(name) };
const bytes = (s) => Buffer.byteLength(s, "utf8");
// at is the position of a word, in UTF-8 columns.
function at(word, skip = 0, in_ = text) {
  const off = in_.indexOf(word);
  must(off >= 0, "the text has", word);
  const lead = in_.slice(0, off + skip);
  const line = lead.split("\n").length - 1;
  return { line, character: bytes(lead.slice(lead.lastIndexOf("\n") + 1)) };
}

const hello = answer(
  "InitializeResult",
  await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: uri("."),
    workspaceFolders: null,
    capabilities: { general: { positionEncodings: ["utf-8", "utf-16"] }, workspace: { textDocumentContent: {} }, textDocument: { rangeFormatting: { rangesSupport: true }, semanticTokens: { requests: { full: true }, tokenTypes: [], tokenModifiers: [], formats: ["relative"] } } },
    initializationOptions: { commands: ["flowgen.terminal", "flowgen.show"] },
  }),
);
must(hello.capabilities.positionEncoding === "utf-8", "the encoding", hello.capabilities.positionEncoding);
await connection.sendNotification(lsp.InitializedNotification.type, {});

async function diagnostics(version) {
  for (;;) {
    const p = published.find((p) => p.uri === document.uri && p.version === version);
    if (p) return p;
    await new Promise((done) => (told = done));
  }
}

await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument: { ...document, languageId: "flowgen", version: 1, text } });
const first = answer("PublishDiagnosticsParams", await diagnostics(1));
must(first.diagnostics.every((d) => d.severity === 2), "a right file", first);
const range = { start: { line: 0, character: 0 }, end: { line: text.split("\n").length, character: 0 } };
const ask = (type, params = {}) => connection.sendRequest(type, { textDocument: document, ...params });

const tokens = answer("SemanticTokens", await ask(lsp.SemanticTokensRequest.type));
{
  const legend = hello.capabilities.semanticTokensProvider.legend;
  const lines = text.split("\n");
  const words = [];
  for (let i = 0, line = 0, character = 0; i < tokens.data.length; i += 5) {
    if (tokens.data[i]) character = 0;
    line += tokens.data[i];
    character += tokens.data[i + 1];
    words.push(Buffer.from(lines[line]).subarray(character, character + tokens.data[i + 2]).toString() + " " + legend.tokenTypes[tokens.data[i + 3]]);
  }
  for (const want of ["first variable", "greet function", "size function", "score variable", "why property", "shop namespace"]) must(words.includes(want), want, words);
}
const hints = answer("InlayHint[]", await ask(lsp.InlayHintRequest.type, { range }));
must(hints.some((h) => h.label === ": {route: enum<keep|drop>, why: string}"), "hints", hints);
const selections = answer("SelectionRange[]", await ask(lsp.SelectionRangeRequest.type, { positions: [at("score.why", 7)] }));
must(selections[0].range.end.character - selections[0].range.start.character === 3 && selections[0].parent, "selections", selections);
const help = answer("SignatureHelp", await ask(lsp.SignatureHelpRequest.type, { position: at("size(score", 5) }));
must(help.signatures[0].label === "size(x)", "signature", help);
const lenses = answer("CodeLens[]", await ask(lsp.CodeLensRequest.type));
must(lenses.some((l) => l.command.title === "run"), "lenses", lenses);
const hover = answer("Hover", await ask(lsp.HoverRequest.type, { position: at("greet, with") }));
must(hover.contents.value.includes("effects: none"), "hover", hover);
const items = answer("CompletionList", await ask(lsp.CompletionRequest.type, { position: at("score.why", 6) }));
must(items.items.some((i) => i.label === "route"), "completion behind a character of four bytes", items);
const definition = answer("Location[]", await ask(lsp.DefinitionRequest.type, { position: at("score.why", 1) }));
must(definition[0].range.start.line === at("  score:").line, "definition", definition);
answer("Location[]", await ask(lsp.TypeDefinitionRequest.type, { position: at("items: list", 1) }) ?? []);
const references = answer("Location[]", await ask(lsp.ReferencesRequest.type, { position: at("score.why", 1), context: { includeDeclaration: true } }));
must(references.length === 4, "references", references);
answer("DocumentHighlight[]", await ask(lsp.DocumentHighlightRequest.type, { position: at("score.why", 1) }));
const symbols = answer("DocumentSymbol[]", await ask(lsp.DocumentSymbolRequest.type));
must(symbols.some((s) => s.name === "last"), "symbols", symbols);
answer("SymbolInformation[]", await connection.sendRequest(lsp.WorkspaceSymbolRequest.type, { query: "scr" }));
must(answer("FoldingRange[]", await ask(lsp.FoldingRangeRequest.type)).length > 3, "folding", 0);
answer("DocumentLink[]", await ask(lsp.DocumentLinkRequest.type));
answer("{range: lsp.Range, placeholder: string}", await ask(lsp.PrepareRenameRequest.type, { position: at("score.why", 1) }));
const edit = answer("WorkspaceEdit", await ask(lsp.RenameRequest.type, { position: at("score.why", 1), newName: "rated" }));
must(edit.changes[document.uri].length === 4, "rename", edit);
answer("TextEdit[]", await ask(lsp.DocumentFormattingRequest.type, { options: { tabSize: 2, insertSpaces: true } }));
answer("TextEdit[]", await ask(lsp.DocumentRangeFormattingRequest.type, { range, options: { tabSize: 2, insertSpaces: true } }));
answer("TextEdit[]", await ask(lsp.DocumentRangesFormattingRequest.type, { ranges: [range], options: { tabSize: 2, insertSpaces: true } }));
const chain = answer("CallHierarchyItem[]", await ask(lsp.CallHierarchyPrepareRequest.type, { position: at("tool: greet", 6) }));
const callers = answer("CallHierarchyIncomingCall[]", await connection.sendRequest(lsp.CallHierarchyIncomingCallsRequest.type, { item: chain[0] }));
must(callers.length === 1 && callers[0].from.name === "shop" && callers[0].fromRanges.length === 1, "callers", callers);
const called = answer("CallHierarchyOutgoingCall[]", await connection.sendRequest(lsp.CallHierarchyOutgoingCallsRequest.type, { item: callers[0].from }));
must(called.some((c) => c.to.name === "greet"), "calls", called);
const plan = answer("TextDocumentContentResult", await connection.sendRequest(lsp.TextDocumentContentRequest.type, { uri: document.uri.replace("file:", "flowgen.plan:") }));
must(plan.text.includes("score"), "the plan", plan);
const shown = await connection.sendRequest(lsp.ExecuteCommandRequest.type, { command: "flowgen.graph", arguments: [document.uri] });
must(shown.text.includes("-->"), "graph", shown);

// A mistake behind a character of four bytes, its fixes, and the right text again.
const wrong = text.replace("score.why", "score.wyh");
const version = { ...document, version: 2 };
await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
  textDocument: version,
  contentChanges: [{ range: { start: at("score.why", 6), end: at("score.why", 9) }, text: "wyh" }],
});
const second = answer("PublishDiagnosticsParams", await diagnostics(2));
const mistakes = second.diagnostics.filter((d) => d.severity === 1);
must(mistakes.length === 1, "a misspelt field", second);
must(mistakes[0].codeDescription.href.endsWith("docs/diagnostics.md#" + mistakes[0].code.toLowerCase()), "the page of its code", mistakes);
const place = mistakes[0].range;
must(place.start.character === at("wyh", 0, wrong).character && place.end.character === place.start.character + 3, "its place", place);
const actions = answer("CodeAction[]", await ask(lsp.CodeActionRequest.type, { range: place, context: { diagnostics: second.diagnostics } }));
must(actions.some((a) => a.kind === "quickfix" && a.edit.changes[document.uri][0].newText.includes("why")), "a fix", actions);
must(actions.some((a) => a.kind === "source.fixAll"), "fix all", actions);

// A cancelled request is answered, and the server goes on.
const source = new lsp.CancellationTokenSource();
const pending = connection.sendRequest(lsp.HoverRequest.type, { textDocument: document, position: { line: 0, character: 0 } }, source.token).catch((e) => e);
source.cancel();
await pending;
await ask(lsp.HoverRequest.type, { position: { line: 9999, character: 9999 } });

await connection.sendRequest(lsp.ShutdownRequest.type);
await connection.sendNotification(lsp.ExitNotification.type);
const code = await new Promise((done) => server.on("exit", done));
must(code === 0, "the exit code", code);
writeFileSync(out, 'import type * as lsp from "vscode-languageserver-protocol";\n' + answers.join("\n").replaceAll("lsp.{range", "{range") + "\n");
