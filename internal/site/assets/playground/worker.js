"use strict";
// Runs one program of the playground: {program: "compiler"} answers {id, text} with {id, result}; {program: "simulator", args}
// answers with what it prints, and then with its exit code.
importScripts("wasm_exec.js");

async function start(name, args) {
  const answer = await fetch(name + ".bin");
  if (!answer.ok) throw new Error(name + ".bin: " + answer.status);
  const code = answer.body.pipeThrough(new DecompressionStream("gzip"));
  const go = new Go();
  go.argv = [name, ...args];
  const { instance } = await WebAssembly.instantiateStreaming(new Response(code, { headers: { "Content-Type": "application/wasm" } }), go.importObject);
  return [go, instance];
}

async function compiler() {
  const [go, instance] = await start("compiler", []);
  self.flowgenReady = () => postMessage({ ready: true });
  go.run(instance).then(() => postMessage({ failed: "the compiler has stopped: reload the page" }));
}

async function simulator(args) {
  const [go, instance] = await start("simulator", args);
  const decoder = new TextDecoder();
  fs.writeSync = (_, bytes) => {
    postMessage({ printed: decoder.decode(bytes, { stream: true }) });
    return bytes.length;
  };
  go.exit = (code) => postMessage({ exit: code });
  await go.run(instance);
}

const failed = (error) => postMessage({ failed: String(error) });
onmessage = ({ data }) => {
  if (data.program === "compiler") compiler().catch(failed);
  else if (data.program === "simulator") simulator(data.args).catch(failed);
  else postMessage({ id: data.id, result: JSON.parse(flowgen.compile(data.text)) });
};
