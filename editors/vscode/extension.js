// Starts `flowgen lsp` for workflows and what belongs to them.
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

exports.activate = async function (context) {
  const files = ["**/*.flowgen.yaml", "**/*.test.yaml", "**/flowgen.bindings.yaml", "**/flowgen.lock", "**/*.go", "**/go.mod", "**/*.py", "**/*.md"];
  client = new LanguageClient(
    "flowgen",
    "flowgen",
    { command: program(context), args: ["lsp"] },
    {
      documentSelector: [
        { scheme: "file", language: "flowgen" },
        { scheme: "file", pattern: "**/*.test.yaml" },
        { scheme: "file", pattern: "**/prompts/**" },
      ],
      synchronize: { fileEvents: files.map((f) => vscode.workspace.createFileSystemWatcher(f)) },
    },
  );
  await client.start();
};

exports.deactivate = () => client && client.stop();
