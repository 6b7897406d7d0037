package openapisource_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/openapisource"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// mock is a service of a document. It holds requests to the document, and answers with what the type of the tool can be.
type mock struct {
	t       *testing.T
	router  routers.Router
	answers map[string]string // by method and path of the document
	status  map[string]int
	media   map[string]string

	mu  sync.Mutex
	got map[string]int // requests that fit
	odd map[string]int // whose values break a bound that no type has, by it
}

// bounds are the parts of a schema that a type of flowgen does not have, so that a value that is made for the type may break them.
var bounds = []string{"pattern", "format", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems",
	"minProperties", "maxProperties", "oneOf", "anyOf", "not", "enum", "const", "allOf", "dependentRequired", "if", "contains", "propertyNames"}

// bound is the part of a schema that an error is about.
func bound(err error) string {
	var list openapi3.MultiError
	if errors.As(err, &list) && len(list) > 0 {
		for _, e := range list {
			if b := bound(e); b == "" {
				return ""
			}
		}
		return bound(list[0])
	}
	var request *openapi3filter.RequestError
	if errors.As(err, &request) && request.Err != nil && request.Err != err {
		return bound(request.Err)
	}
	var s *openapi3.SchemaError
	if errors.As(err, &s) {
		if slices.Contains(bounds, s.SchemaField) {
			return s.SchemaField
		}
		if s.Origin != nil {
			return bound(s.Origin)
		}
	}
	return ""
}

func (m *mock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		m.t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.URL.Scheme, r.URL.Host = "http", r.Host
	route, params, err := m.router.FindRoute(r)
	if err != nil {
		m.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		http.NotFound(w, r)
		return
	}
	name := route.Method + " " + route.Path
	err = openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{
		MultiError: true,
		AuthenticationFunc: func(_ context.Context, in *openapi3filter.AuthenticationInput) error {
			for _, v := range r.Header {
				if strings.Contains(v[0], "s3cret") || strings.HasPrefix(v[0], "Basic ") {
					return nil
				}
			}
			return errors.New("the request is not authenticated")
		},
	}})
	m.mu.Lock()
	if err == nil {
		m.got[name]++
	} else if b := bound(err); b != "" {
		m.odd[name+": "+b]++
	} else {
		m.t.Errorf("%s does not fit the document: %v\n%s %s", name, err, r.URL, body)
	}
	m.mu.Unlock()
	text, ok := m.answers[name]
	if !ok {
		m.t.Errorf("nothing calls %s", name)
	}
	if text != "" {
		w.Header().Set("Content-Type", m.media[name])
	}
	w.WriteHeader(m.status[name])
	_, _ = io.WriteString(w, text)
}

// errNoValue is that no value is made of a type.
var errNoValue = errors.New("no value")

// patterns are texts that fit common patterns.
var patterns = []string{"a", "A", "1", "abc", "a1", "ABC", "abcdefgh", "12345678", "a-b", "2026-01-31", "0123456789abcdef", "00000000-0000-4000-8000-000000000000", "https://example.com/x", "a@example.com", "1.0.0", "10.0.0.1", "#aabbcc", "USD", "en", "true", "/a"}

// sample makes a value of a type: of all fields near the root, then of required ones. written is for a workflow, else it is JSON of a
// response.
func sample(f *schema.Field, depth int, written bool) (any, error) {
	t := f.Type
	low := func(least float64) float64 {
		if f.Min != nil {
			return max(*f.Min, least)
		}
		if f.Max != nil {
			return min(*f.Max, least)
		}
		return least
	}
	switch t.Kind {
	case schema.Opt:
		return sample(&schema.Field{Type: t.Elem, Min: f.Min, Max: f.Max, Pattern: f.Pattern}, depth, written)
	case schema.Any:
		return "x", nil
	case schema.Null:
		return nil, nil
	case schema.Bool:
		return true, nil
	case schema.Int:
		return int64(low(1)), nil
	case schema.Float:
		return low(1.5), nil
	case schema.Enum:
		return t.Values[0], nil
	case schema.Time:
		if written {
			return `$timestamp("2026-01-31T00:00:00Z")`, nil
		}
		return "2026-01-31T00:00:00Z", nil
	case schema.String:
		if f.Pattern == "" {
			return strings.Repeat("x", int(low(1))), nil
		}
		for _, text := range patterns {
			n := float64(len(text))
			if ok, err := regexp.MatchString(f.Pattern, text); err == nil && ok && (f.Min == nil || n >= *f.Min) && (f.Max == nil || n <= *f.Max) {
				return text, nil
			}
		}
		return nil, fmt.Errorf("%w of pattern %s", errNoValue, f.Pattern)
	case schema.List:
		item, err := sample(&schema.Field{Type: t.Elem}, depth+1, written)
		if err != nil {
			return nil, err
		}
		return slices.Repeat([]any{item}, int(low(1))), nil
	case schema.Map:
		item, err := sample(&schema.Field{Type: t.Elem}, depth+1, written)
		return map[string]any{"k": item}, err
	case schema.Struct:
		return sampleFields(t.Fields, depth, written)
	case schema.Union:
		return sample(&schema.Field{Type: t.Variants[0].Type}, depth, written)
	}
	return nil, fmt.Errorf("%w of %s", errNoValue, t)
}

func sampleFields(fields []*schema.Field, depth int, written bool) (any, error) {
	out := map[string]any{}
	for _, f := range fields {
		any := f.Type.Present().Kind == schema.Any
		if !f.Required() && (depth > 2 || any) {
			continue
		}
		v, err := sample(f, depth+1, written)
		if err != nil && !f.Required() {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[f.Name] = v
	}
	return out, nil
}

// vague reports whether a type has a part that must be there and can be anything: what is sent there may not fit.
func vague(t *schema.Type, depth int) bool {
	switch t.Kind {
	case schema.Any:
		return true
	case schema.List, schema.Map, schema.Opt:
		return vague(t.Elem, depth+1)
	case schema.Union:
		return vague(t.Variants[0].Type, depth)
	case schema.Struct:
		return slices.ContainsFunc(t.Fields, func(f *schema.Field) bool {
			return (f.Required() || depth <= 2 && f.Type.Present().Kind != schema.Any) && vague(f.Type, depth+1)
		})
	}
	return false
}

// called is one document with the calls of its operations.
type called struct {
	name string
	doc  *openapi3.T
	*mock
	ops   []*openapisource.Request
	no    map[string]int // operations that nothing calls, by reason
	tools int
}

// load opens a document for calls of at most so many operations, each so many-th.
func load(t *testing.T, file string, most int) *called {
	t.Helper()
	dir := filepath.Dir(file)
	d, err := openapisource.Open(&foreign.Files{}, foreign.Folder{Disk: dir}, filepath.Base(file))
	if err != nil || len(d.Operations()) == 0 {
		return nil
	}
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	doc, err := loader.LoadFromFile(file)
	if err != nil {
		return nil
	}
	c := &called{name: file, doc: doc, no: map[string]int{}, mock: &mock{t: t, answers: map[string]string{}, status: map[string]int{}, media: map[string]string{}, got: map[string]int{}, odd: map[string]int{}}}
	ids := map[string]int{}
	for _, o := range d.Operations() {
		ids[o.ID]++
	}
	step := 1
	if n := len(d.Operations()); most > 0 && n > most {
		step = n / most
	}
	for i, o := range d.Operations() {
		if i%step != 0 || most > 0 && len(c.ops) == most {
			continue
		}
		q, err := d.Request(o)
		switch {
		case err != nil:
			c.no["refused: "+regexp.MustCompile("`[^`]*`").ReplaceAllString(err.Error(), "")]++
			continue
		case ids[o.ID] > 1:
			o.ID = o.Method + " " + o.Path
		}
		c.tools++
		in := vague(q.In, 0)
		out, err := sample(&schema.Field{Type: q.Out}, 0, false)
		if err != nil || in {
			c.no["not called: its input needs a value that may be anything"]++
			continue
		}
		if _, err := sampleFields(q.In.Fields, 0, true); err != nil {
			c.no["not called: "+err.Error()]++
			continue
		}
		c.ops = append(c.ops, q)
		c.reply(o.Method+" "+o.Path, doc, o, q.Out, out)
	}
	return c
}

// reply chooses the answer of an operation.
func (c *called) reply(name string, doc *openapi3.T, o *openapisource.Operation, t *schema.Type, out any) {
	text, _ := json.Marshal(out)
	c.answers[name], c.status[name], c.media[name] = string(text), 200, "application/json"
	item := doc.Paths.Value(o.Path)
	if item == nil || item.GetOperation(o.Method) == nil || item.GetOperation(o.Method).Responses == nil {
		return
	}
	all := item.GetOperation(o.Method).Responses.Map()
	for _, code := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(code, "2") {
			continue
		}
		c.status[name], _ = strconv.Atoi(strings.ReplaceAll(strings.ToUpper(code), "XX", "00"))
		content := all[code].Value.Content
		if len(content) == 0 {
			c.answers[name] = ""
		} else if content["application/json"] == nil {
			for _, kind := range slices.Sorted(maps.Keys(content)) {
				if strings.HasPrefix(kind, "text/") && t.Kind == schema.String {
					c.media[name], c.answers[name] = kind, fmt.Sprint(out)
				}
			}
		}
		break
	}
	if c.status[name] == 204 || o.Method == "HEAD" {
		c.answers[name] = ""
	}
}

// serve starts the mock. false: the validator does not take the document.
func (c *called) serve() (url string, ok bool) {
	server := httptest.NewUnstartedServer(c.mock)
	c.doc.Servers = openapi3.Servers{{URL: "http://" + server.Listener.Addr().String() + "/v1"}}
	for _, item := range c.doc.Paths.Map() {
		item.Servers = nil
		for _, op := range item.Operations() {
			op.Servers = nil
		}
	}
	var err error
	if c.router, err = legacy.NewRouter(c.doc, openapi3.DisableExamplesValidation(), openapi3.DisableSchemaDefaultsValidation(), openapi3.DisableSchemaPatternValidation()); err != nil {
		_ = server.Listener.Close()
		c.t.Logf("%s: the validator does not take it: %.200v", c.name, err)
		return "", false
	}
	server.Start()
	c.t.Cleanup(server.Close)
	return server.URL + "/v1", true
}

// TestCalls calls the operations of documents through a workflow's compiled program, against services that hold each request to its
// document. The documents are those of a module that the compiler needs, and with OPENAPI_DOCUMENTS=DIR those of a folder; OPENAPI_CALLS
// is how many operations of each are called, 0 for all. It builds the compiler and a large program, so that it is not an ordinary test.
func TestCalls(t *testing.T) {
	if os.Getenv("LONG") == "" && os.Getenv("OPENAPI_DOCUMENTS") == "" {
		t.Skip("LONG is not set")
	}
	most, err := strconv.Atoi(cmp.Or(os.Getenv("OPENAPI_CALLS"), "3"))
	if err != nil {
		t.Fatal(err)
	}
	root := os.Getenv("OPENAPI_DOCUMENTS")
	if root == "" {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/getkin/kin-openapi").Output()
		if err != nil {
			t.Fatal(err)
		}
		root = filepath.Join(strings.TrimSpace(string(out)), "openapi3", "testdata")
	}
	var docs []*called
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(name)) {
			if c := load(t, name, most); c != nil {
				docs = append(docs, c)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	flowgen := filepath.Join(t.TempDir(), "flowgen.exe")
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", flowgen, "../../../cmd/flowgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const each = 150 // tools of a program
	total, fitting, odd, no := 0, 0, map[string]int{}, map[string]int{}
	for len(docs) > 0 {
		n, ops := 0, 0
		for n < len(docs) && (ops == 0 || ops+len(docs[n].ops) <= each) {
			ops += len(docs[n].ops)
			n++
		}
		callAll(t, flowgen, root, docs[:n])
		for _, c := range docs[:n] {
			total += c.tools
			fitting += len(c.got)
			for why, k := range c.odd {
				odd[why[strings.LastIndex(why, ": ")+2:]] += k
			}
			for why, k := range c.no {
				no[why] += k
			}
			t.Logf("%s: %d tools, %d calls fit, %d break a bound, %d operations without a call %v", strings.TrimPrefix(c.name, root), c.tools, len(c.got), len(c.odd), len(c.no), c.no)
		}
		docs = docs[n:]
	}
	t.Logf("%d tools, %d calls fit their documents; bounds that no type has: %v; without a call: %v", total, fitting, odd, no)
	if fitting == 0 {
		t.Error("nothing was called")
	}
}

// copyDocuments copies the files of a folder below root and of the folders in it, once.
func copyDocuments(t *testing.T, root, rel, to string, copied map[string]bool) {
	t.Helper()
	if copied[rel] {
		return
	}
	copied[rel] = true
	err := filepath.WalkDir(filepath.Join(root, rel), func(name string, e fs.DirEntry, err error) error {
		switch info, failed := e.Info(); {
		case err != nil || failed != nil:
			return cmp.Or(err, failed)
		case e.IsDir() && strings.HasPrefix(e.Name(), "apis_guru"): // large, and what its tests expect
			return fs.SkipDir
		case e.IsDir() || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(name)) || info.Size() > 32<<20:
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		at, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		at = filepath.Join(to, at)
		return errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, text, 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// callAll calls all operations of some documents by one program, next to a copy of the documents.
func callAll(t *testing.T, flowgen, root string, docs []*called) {
	t.Helper()
	dir := t.TempDir()
	copied := map[string]bool{}
	env := append(os.Environ(), "K=s3cret", "FLOWGEN_RUNS=off")
	var tools, nodes strings.Builder
	calls := map[string]string{}
	for i, c := range docs {
		url, ok := c.serve()
		if !ok {
			c.no["the validator does not take the document"] += len(c.ops)
			continue
		}
		env = append(env, fmt.Sprintf("D%d_URL=%s", i, url))
		rel, err := filepath.Rel(root, c.name)
		if err != nil {
			t.Fatal(err)
		}
		spec := path.Join("docs", filepath.ToSlash(rel))
		copyDocuments(t, root, filepath.Dir(rel), filepath.Join(dir, "docs"), copied)
		for j, q := range c.ops {
			name := fmt.Sprintf("t%d_%d", i, j)
			fmt.Fprintf(&tools, "  %s:\n    openapi: {spec: %s, operation: %s, base: D%d_URL}\n", name, strconv.Quote(spec), strconv.Quote(q.Operation.ID), i)
			if len(q.Ways) > 0 && !q.Free {
				way := q.Ways[0]
				auth := "{" + way.Kind + ": K}"
				if way.Kind == "header" {
					auth = "{header: " + strconv.Quote(way.Header) + ", secret: K}"
				}
				fmt.Fprintf(&tools, "    auth: %s\n", auth)
			}
			in, _ := sampleFields(q.In.Fields, 0, true)
			with, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&nodes, "  c%s: {tool: %s, with: %s, on_error: skip}\n", name, name, with)
			calls["c"+name] = c.name + ": " + q.Operation.Method + " " + q.Operation.Path
		}
	}
	if len(calls) == 0 {
		return
	}
	file := filepath.Join(dir, "calls.flowgen.yaml")
	text := "flowgen: 1\nname: calls\nsecrets: [K]\npolicy: {net: {allow: [loopback]}}\ntools:\n" + tools.String() + "nodes:\n" + nodes.String() + "output: {}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(flowgen, "run", file, "--json-events")
	cmd.Env = env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil {
		t.Errorf("%v\n%s%.4000s", err, out, stderr.Bytes())
	}
	for _, c := range docs {
		for _, q := range c.ops {
			name := q.Operation.Method + " " + q.Operation.Path
			if c.router != nil && c.got[name] == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(c.odd)), func(odd string) bool { return strings.HasPrefix(odd, name+": ") }) {
				t.Errorf("%s: nothing has called %s", c.name, name)
			}
		}
	}
	for line := range strings.Lines(stderr.String()) {
		var e struct {
			Kind, Node string
			Error      any
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind == "node_end" && e.Error != nil {
			t.Errorf("%s: %v", calls[e.Node], e.Error)
		}
	}
}
