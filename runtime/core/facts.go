package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// Facts are the data of a compiled workflow: the JSON file next to the generated Go, which is parsed on first use. A nil
// Facts is empty. Facts are safe for concurrent use.
type Facts struct {
	text string

	mu    sync.Mutex
	parts *factParts // nil: not read yet
	err   error      // why the file does not fit the code
}

type factParts struct {
	Plan     json.RawMessage            `json:"plan"`
	Manifest json.RawMessage            `json:"manifest"`
	Hashes   json.RawMessage            `json:"hashes"`
	Schemas  map[string]json.RawMessage `json:"schemas"`
}

// NewFacts are the facts of a file. A file that cannot be read is reported by New, not here: generated code calls this
// before main has begun.
func NewFacts(text string) *Facts { return &Facts{text: text} }

// Plan is how the workflow runs, as one line of JSON; empty where it is not known.
func (f *Facts) Plan() string { return f.line(func(p *factParts) json.RawMessage { return p.Plan }) }

// Manifest is what the workflow can touch, as one line of JSON; empty where it is not known.
func (f *Facts) Manifest() string {
	return f.line(func(p *factParts) json.RawMessage { return p.Manifest })
}

// Hashes say which version of each node this is, so that a journal of another version of the workflow is not taken for one
// of this: {"graph":"<hex16>","nodes":{"probe/search":"<hex16>"},"from":{"post":["review"]}}, which package journal reads and
// compares. Empty where they are not known.
func (f *Facts) Hashes() string {
	return f.line(func(p *factParts) json.RawMessage { return p.Hashes })
}

// Schema is a JSON Schema for models, on one line. A missing one is empty, and New reports it.
func (f *Facts) Schema(name string) string {
	line := f.line(func(p *factParts) json.RawMessage { return p.Schemas[name] })
	if line == "" && f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.err == nil {
			f.err = fmt.Errorf("it has no schema %s", name)
		}
	}
	return line
}

// read reads the file if that has not been done. The lock is held.
func (f *Facts) read() {
	if f.parts == nil {
		f.parts = &factParts{}
		f.err = json.Unmarshal([]byte(f.text), f.parts)
	}
}

// line reads the file if that has not been done, and writes a part of it on one line.
func (f *Facts) line(part func(*factParts) json.RawMessage) string {
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read()
	var b bytes.Buffer
	if err := json.Compact(&b, part(f.parts)); err != nil {
		return "" // absent
	}
	return b.String()
}

// check reports a file that does not fit the code: edited, merged by hand, or of another version.
func (f *Facts) check(source string) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read()
	if f.err != nil {
		return fmt.Errorf("the JSON file next to the generated code of %s does not fit it: %w; run `flowgen generate`", source, f.err)
	}
	return nil
}
