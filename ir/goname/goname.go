// Package goname turns workflow ids into Go identifiers. It is the one sanitiser: whatever it returns is a valid
// identifier made of letters, digits and underscores, whatever it is given.
package goname

import (
	"go/token"
	"strings"
	"unicode"
)

// initialisms are written in capitals, as Go style has it.
var initialisms = map[string]bool{
	"acl": true, "api": true, "ascii": true, "cpu": true, "css": true, "csv": true, "dns": true, "eof": true, "guid": true,
	"html": true, "http": true, "https": true, "id": true, "ip": true, "json": true, "llm": true, "mcp": true, "pdf": true,
	"pr": true, "qps": true, "ram": true, "rpc": true, "sla": true, "smtp": true, "sql": true, "ssh": true, "tcp": true,
	"tls": true, "ttl": true, "udp": true, "ui": true, "uid": true, "uri": true, "url": true, "utf8": true, "uuid": true,
	"vm": true, "xml": true, "yaml": true,
}

// words splits an id at everything that is not a letter or digit, and where lower case meets upper case.
func words(id string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 {
			out = append(out, string(cur))
			cur = nil
		}
	}
	prev := rune(0)
	for _, r := range id {
		switch {
		case r == '$': // of JavaScript, so that $item and _item are two
			flush()
			out = append(out, "dollar")
		case r > unicode.MaxASCII || !(unicode.IsLetter(r) || unicode.IsDigit(r)):
			flush()
		case unicode.IsUpper(r) && unicode.IsLower(prev):
			flush()
			cur = append(cur, r)
		default:
			cur = append(cur, r)
		}
		prev = r
	}
	flush()
	return out
}

func title(w string) string {
	if lower := strings.ToLower(w); initialisms[lower] {
		return strings.ToUpper(w)
	}
	return strings.ToUpper(w[:1]) + w[1:]
}

// Exported is the Go name of a field, type or constant: fetch_diff -> FetchDiff, pr_url -> PRURL.
func Exported(id string) string {
	var b strings.Builder
	for _, w := range words(id) {
		b.WriteString(title(w))
	}
	return valid(b.String(), "X")
}

// Local is the Go name of a variable: fetch_diff -> fetchDiff, url -> url, pr_url -> prURL.
func Local(id string) string {
	ws := words(id)
	if len(ws) == 0 {
		return "x"
	}
	var b strings.Builder
	if first := strings.ToLower(ws[0]); initialisms[first] || strings.ToUpper(ws[0]) == ws[0] {
		b.WriteString(first)
	} else {
		b.WriteString(strings.ToLower(ws[0][:1]) + ws[0][1:])
	}
	for _, w := range ws[1:] {
		b.WriteString(title(w))
	}
	return Escape(valid(b.String(), "x"))
}

// valid makes a name that starts with a letter.
func valid(name, prefix string) string {
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return prefix + name
	}
	return name
}

// predeclared names that generated code must not shadow where it also uses them.
var predeclared = map[string]bool{
	"any": true, "append": true, "bool": true, "byte": true, "cap": true, "clear": true, "close": true, "comparable": true,
	"copy": true, "delete": true, "error": true, "false": true, "float32": true, "float64": true, "int": true, "int8": true,
	"int16": true, "int32": true, "int64": true, "iota": true, "len": true, "make": true, "max": true, "min": true,
	"new": true, "nil": true, "panic": true, "print": true, "println": true, "recover": true, "rune": true, "string": true,
	"true": true, "uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true, "uintptr": true,
}

// generator holds the locals and parameters of generated functions.
var generator = map[string]bool{"ctx": true, "in": true, "out": true, "err": true, "run": true, "w": true, "state": true}

// Escape adds an underscore to keywords, predeclared names and the generator's own locals.
func Escape(name string) string {
	if token.IsKeyword(name) || predeclared[name] || generator[name] || name == "init" || name == "main" || name == "_" {
		return name + "_"
	}
	return name
}

// Package is the name of the package generated for a workflow: lower case, no underscores.
func Package(id string) string {
	name := valid(strings.ToLower(strings.Join(words(id), "")), "flow")
	if token.IsKeyword(name) || predeclared[name] || name == "init" || name == "main" || name == "runtime" ||
		name == "documentation" { // the go command ignores files of such a package
		return name + "flow"
	}
	return name
}
