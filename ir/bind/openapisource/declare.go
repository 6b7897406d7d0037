package openapisource

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// An Import is a library file that declares operations of a document as tools.
type Import struct {
	Text    string
	Tools   int
	Secrets []string // that a workflow has to declare which includes the file
	Refused []string // operations that no tool can call, with the reason and the place in the document
}

// Declare writes the tools for those operations of a document that keep returns true for.
func Declare(d *Document, keep func(*Operation) bool) *Import {
	out := &Import{}
	var tools strings.Builder
	keys := map[string]int{}
	for _, o := range d.ops {
		if !keep(o) {
			continue
		}
		q, err := d.Request(o)
		if err == nil && len(d.find(o.ID)) > 1 {
			o = &Operation{ID: o.Method + " " + o.Path, Method: o.Method, Path: o.Path}
		}
		if err != nil {
			at := ""
			if r, ok := err.(*Refusal); ok && !r.At.IsZero() {
				p := r.At.Start()
				at = fmt.Sprintf(" (%s:%d:%d)", r.At.File.Name, p.Line, p.Col)
			}
			out.Refused = append(out.Refused, diag.Printable(o.ID)+": "+err.Error()+at)
			continue
		}
		out.Tools++
		key := toolKey(o.ID)
		if keys[key]++; keys[key] > 1 {
			key = fmt.Sprintf("%s_%d", key, keys[key])
		}
		for _, left := range q.Left {
			tools.WriteString("  # left out: " + diag.Printable(left) + "\n")
		}
		base := ""
		if q.Server == "" {
			base = ", base: " + upper(d.Name) + "_URL"
		}
		fmt.Fprintf(&tools, "  %s:\n    openapi: {spec: %s, operation: %s%s}\n", key, plain(d.Name), plain(o.ID), base)
		if len(q.Ways) > 0 && !q.Free {
			way := q.Ways[0]
			secret := upper(way.Scheme)
			fmt.Fprintf(&tools, "    auth: %s\n", way.auth(secret))
			if !slices.Contains(out.Secrets, secret) {
				out.Secrets = append(out.Secrets, secret)
			}
		}
	}
	out.Text = "flowgen: 1\nname: " + toolKey(strings.TrimSuffix(path.Base(d.Name), path.Ext(d.Name))) + "\n"
	if len(out.Secrets) > 0 {
		out.Text += "# a workflow that includes this file has `secrets: [" + strings.Join(out.Secrets, ", ") + "]`\n"
	}
	if out.Tools > 0 {
		out.Text += "tools:\n" + tools.String()
	}
	return out
}

// Title is the name and the version of the API.
func (d *Document) Title() (name, version string) {
	if d.doc.Info == nil {
		return "", ""
	}
	return oneLine(d.doc.Info.Title), d.doc.Info.Version
}

// Locked is what flowgen.lock keeps of an operation, as JSON: the request, its effects, and the types of input and output. found is
// false when there is no operation of that name.
func (d *Document) Locked(name string) (text string, found bool, err error) {
	list := d.find(name)
	if len(list) != 1 {
		return "", false, nil
	}
	q, err := d.Request(list[0])
	if err != nil {
		return "", false, err
	}
	request := q.Operation.Method + " " + q.Server + q.Operation.Path
	for i, w := range q.Ways {
		request += map[bool]string{true: ", authenticated by ", false: " or "}[i == 0] + strings.TrimSpace(w.Kind+" "+w.Header)
	}
	if q.Free && len(q.Ways) > 0 {
		request += " or nothing"
	}
	if q.media != "" {
		request += ", body " + q.media
	}
	out, err := json.Marshal(struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		Annotations map[string]bool `json:"annotations"`
		In          json.RawMessage `json:"inputSchema"`
		Out         json.RawMessage `json:"outputSchema"`
	}{name, request, map[string]bool{"readOnlyHint": Reads(q.Operation.Method)}, json.RawMessage(schema.JSONSchema(q.In)), json.RawMessage(schema.JSONSchema(q.Out))})
	return string(out), true, err
}

var (
	camel     = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	plainForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)
)

// toolKey is the key of a tool: the words of a name in lower case.
func toolKey(s string) string {
	s = strings.Trim(notField.ReplaceAllString(strings.ToLower(camel.ReplaceAllString(s, "${1}_$2")), "_"), "_")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "op_" + s
	}
	return strings.Trim(s[:min(len(s), maxName-4)], "_")
}

// upper is the name of a variable or a secret.
func upper(s string) string {
	return strings.ToUpper(toolKey(strings.TrimSuffix(path.Base(s), path.Ext(s))))
}

// plain is a text in YAML.
func plain(s string) string {
	if plainForm.MatchString(s) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString("\\" + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\x%02x", r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
