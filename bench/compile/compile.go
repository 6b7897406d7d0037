// Package compile is W8: the compiler on large workflows. Its tests are the gates on growth.
package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// A Shape is a kind of large workflow.
type Shape struct {
	Name string
	// Text is a workflow of so many nodes.
	Text func(nodes int) string
}

// Shapes are what workflows grow into: one thing after the other, everything at once, layers of which each waits for the
// one before, and decisions.
var Shapes = []Shape{
	{"chain", chain},
	{"wide", wide},
	{"layers", layers},
	{"choices", choices},
}

const head = `flowgen: 1
name: big
input: {id: string}
secrets: [TOKEN]
tools:
  fetch:
    http:
      url: "https://api.example.com/{id}/x"
      headers: {X-Kind: plain}
    auth: {bearer: TOKEN}
    in: {id: string}
    out: {id: string}
    effects: reads
nodes:
`

// call is a node as people write it: eleven lines.
func call(b *strings.Builder, i int, id string) {
	fmt.Fprintf(b, "  n%d:  # thing %d\n    tool: fetch\n    with:\n      id: %s\n    timeout: 15s\n    retry:\n"+
		"      attempts: 3\n      base: 1s\n      codes:\n        - TIMEOUT\n        - RATE_LIMIT\n", i, i, id)
}

func chain(nodes int) string {
	b := new(strings.Builder)
	b.WriteString(head)
	call(b, 0, "$input.id")
	for i := 1; i < nodes; i++ {
		call(b, i, fmt.Sprintf("\"{{ n%d.id }}/x\"", i-1))
	}
	fmt.Fprintf(b, "output:\n  id: $n%d.id\n", nodes-1)
	return b.String()
}

func wide(nodes int) string {
	b := new(strings.Builder)
	b.WriteString(head)
	for i := range nodes {
		call(b, i, "$input.id")
	}
	b.WriteString("output:\n")
	for i := range nodes {
		fmt.Fprintf(b, "  id%d: $n%d.id\n", i, i)
	}
	return b.String()
}

// layers has ten nodes in each.
func layers(nodes int) string {
	b := new(strings.Builder)
	b.WriteString(head)
	for i := range nodes {
		if i < 10 {
			call(b, i, "$input.id")
			continue
		}
		from := i - i%10 - 10
		call(b, i, fmt.Sprintf("\"{{ n%d.id }}/{{ n%d.id }}\"", from+i%10, from+(i+3)%10))
	}
	fmt.Fprintf(b, "output:\n  id: $n%d.id\n", nodes-1)
	return b.String()
}

// choices has a decision in every fourth node: one of two, then on.
func choices(nodes int) string {
	nodes -= nodes % 4
	b := new(strings.Builder)
	b.WriteString(head)
	for i := range nodes {
		switch i % 4 {
		case 0:
			if i == 0 {
				call(b, i, "$input.id")
			} else {
				call(b, i, fmt.Sprintf("$first(n%d, n%d).id", i-2, i-3))
			}
		case 3:
			call(b, i, fmt.Sprintf("$first(n%d, n%d).id", i-1, i-2))
		default:
			call(b, i, fmt.Sprintf("\"{{ n%d.id }}\"", i-i%4))
		}
	}
	b.WriteString("edges:\n")
	for i := 0; i+3 < nodes; i += 4 {
		fmt.Fprintf(b, "  - {from: n%d, to: n%d, when: n%d.id == \"a\"}\n  - {from: n%d, to: n%d, when: n%d.id != \"a\"}\n", i, i+1, i, i, i+2, i)
		fmt.Fprintf(b, "  - n%d, n%d -> n%d\n", i+1, i+2, i+3)
		if i+4 < nodes {
			fmt.Fprintf(b, "  - n%d -> n%d\n", i+3, i+4)
		}
	}
	fmt.Fprintf(b, "output:\n  id: $n%d.id\n", nodes-1)
	return b.String()
}

type file struct{ text []byte }

func (f file) ReadFile(name string) ([]byte, error) {
	if name != "big.flowgen.yaml" {
		return nil, fs.ErrNotExist
	}
	return f.text, nil
}

// Check is parsing and checking: all that `flowgen check` does but writing messages.
func Check(text string) (*check.Program, error) {
	var sink diag.Sink
	wf := parser.Parse(file{[]byte(text)}, "big.flowgen.yaml", &sink)
	if wf == nil {
		return nil, errors.New(sink.List()[0].Message)
	}
	bind.Resolve(wf, bind.Options{}, &sink)
	p := check.Check(wf, &sink)
	for _, d := range sink.List() {
		return nil, fmt.Errorf("%s: %s", d.Code, d.Message)
	}
	return p, nil
}

// Generate is Check and writing the Go and what stands beside it.
func Generate(text string) ([]byte, error) {
	p, err := Check(text)
	if err != nil {
		return nil, err
	}
	opts := codegen.Options{Package: "big"}
	codegen.Assets(p, opts)
	return codegen.Generate(p, opts)
}
