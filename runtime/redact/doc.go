// Package redact finds secrets in text and replaces them with Redacted.
//
// Make a Redactor with New from the secrets, then pass what leaves the program through it: Text for a string, Writer for a
// stream, JSON for a document, Value for dynamic data, Error for an error, Output for the typed result of a tool. Cut is
// Text for a message that is cut off. Found only reports whether there is a secret.
//
// A secret is found as it is, and in every encoding that a tool may print it in: URLs, JSON, HTML, string literals,
// base64 and hexadecimal, also one in another.
//
// The redactor of a run has all secrets that its tools have read. Authors of tools get it from the runtime; this package is
// for programs that print data of runs elsewhere.
//
// The package imports the standard library and package value. All its functions are safe for concurrent use.
package redact
