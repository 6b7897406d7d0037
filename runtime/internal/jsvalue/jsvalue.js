(function () {
  "use strict";
  const TAIL = 8192; // characters of output and stack that go into an error
  const CODES = new Set(["VALIDATION_ERROR", "TIMEOUT", "RATE_LIMIT", "POLICY_DENIED", "AUTH_REQUIRED", "PROVIDER_ERROR",
    "NETWORK_ERROR", "SANDBOX_ERROR", "UNKNOWN"]);
  const { stringify } = JSON; // a tool may replace it

  // Refused is an error of the call that is not the tool's own.
  class Refused {
    constructor(code, message, details) {
      this.code = code;
      this.message = message;
      this.details = details;
    }
  }

  function text(v, fallback) {
    try {
      return String(v);
    } catch {
      return fallback;
    }
  }

  // check refuses what JSON.stringify would silently change.
  function check(v, depth) {
    if (typeof v === "number") {
      if (v - v !== 0) throw new TypeError(v + " has no JSON");
      return;
    }
    if (typeof v !== "object" || v === null) {
      if (typeof v === "function" || typeof v === "symbol" || typeof v === "bigint") throw new TypeError("a " + typeof v + " has no JSON");
      return;
    }
    if (depth > 1000) throw new TypeError("it is nested more than 1000 deep, or holds itself");
    if (Array.isArray(v)) {
      for (let i = 0; i < v.length; i++) check(v[i], depth + 1);
      return;
    }
    if (v instanceof Date && isNaN(v)) throw new TypeError("an invalid date has no JSON");
    if (ArrayBuffer.isView(v) || v instanceof ArrayBuffer) throw new TypeError("bytes have no JSON; give text, such as base64");
    if (typeof v.toJSON === "function") return;
    if (v instanceof Map || v instanceof Set || v instanceof Promise || v instanceof WeakMap || v instanceof WeakSet) {
      throw new TypeError("a " + v.constructor.name + " has no JSON");
    }
    for (const k in v) check(v[k], depth + 1);
  }

  // encode returns the JSON of a result, undefined as null. A loose one is what JSON.stringify makes of it.
  function encode(name, v, loose) {
    try {
      if (v === undefined) return "null";
      if (loose) return stringify(v) ?? "null";
      check(v, 0);
      return stringify(v);
    } catch (e) {
      throw new Refused("VALIDATION_ERROR", "the result of " + name + " has no JSON: " + text(e?.message, "?"));
    }
  }

  function typeOf(e) {
    if (typeof e !== "object" || e === null) return "Error";
    return text(e.constructor?.name || e.name || "Error", "Error");
  }

  // wordOf says what went wrong as "TypeName: text".
  function wordOf(e) {
    const message = text(typeof e === "object" && e !== null ? e.message ?? "" : e, "");
    return message ? typeOf(e) + ": " + message : typeOf(e);
  }

  // describe returns the JSON of the error object for something that was thrown. own tells whether a line of a stack
  // belongs to the tool.
  function describe(e, output, own) {
    const details = {};
    const error = { code: "UNKNOWN", message: "", details };
    if (e instanceof Refused) {
      error.code = e.code;
      error.message = e.message;
      Object.assign(details, e.details);
    } else {
      error.message = wordOf(e).slice(0, 4000);
      details.exception = typeOf(e);
      const stack = text(e?.stack ?? "", "").split("\n").filter(own).join("\n");
      if (stack) details.stack = stack.slice(0, TAIL);
      if (typeof e?.code === "string" && CODES.has(e.code)) {
        error.code = e.code;
        error.message = text(e.message, "").slice(0, 4000);
        const after = e.retry_after_s;
        if (typeof after === "number" && after >= 0 && after - after === 0) error.retry_after_s = after;
        if (e.details !== undefined) details.details = e.details;
      }
    }
    if (output) details.output = output.slice(-TAIL);
    if (Object.keys(details).length === 0) delete error.details;
    try {
      check(error, 0);
      const body = stringify(error);
      if (body.length <= 60000) return body;
    } catch {
      // The details are the tool's own and have no JSON.
    }
    delete error.details;
    return stringify(error);
  }

  // attachment adds what stands beside a result to list: {kind, url, content_type, bytes}. The rest is checked outside.
  function attachment(list, a) {
    const { kind, url, content_type = "", bytes = 0 } = a ?? {};
    if (typeof kind !== "string" || typeof url !== "string" || typeof content_type !== "string" || !Number.isSafeInteger(bytes)) {
      throw new TypeError("an attachment has a kind, a url and a content_type, which are text, and bytes, an integer");
    }
    if (!["blob", "image", "table"].includes(kind)) throw new TypeError("an attachment is a blob, an image or a table");
    if (url.length < 1 || url.length > 4096 || content_type.length > 200 || bytes < 0) {
      throw new RangeError("the URL of an attachment has 1 to 4096 bytes, its content type at most 200, and its size is not negative");
    }
    if (list.length >= 100) throw new RangeError("a call has at most 100 attachments");
    list.push({ kind, url, content_type, bytes });
  }

  // attached returns the JSON of such a list.
  const attached = (list) => stringify(list);

  return { encode, describe, wordOf, attachment, attached, Refused, TAIL };
})
