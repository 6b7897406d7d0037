package main

import (
	"strings"
	"testing"
)

// TestLSPLongLine: requests at the end of a line of a megabyte are answered, whatever it is made of. Work that grows with the square of
// the line takes minutes here.
func TestLSPLongLine(t *testing.T) {
	t.Parallel()
	const (
		name   = "greet.flowgen.yaml"
		before = "flowgen: 1\nname: greet\ninput: {q: string}\n"
		after  = "nodes:\n  answer: {let: $input.q}\noutput: {a: $answer}\n"
	)
	e := editFor(t, edit(t, nil).dir, nil, object{})
	e.open(name, before+after)
	for _, part := range []string{"x", " '", "{", "[a, ", "{{ ", "$input."} {
		line := strings.Repeat(part, 1<<20/len(part))
		for _, key := range []string{"# ", "description: "} {
			e.replaceAll(name, before+key+line+"\n"+after)
			e.raw(name)
			at := lspPosition{3, len(key + line)}
			for _, method := range []string{"hover", "completion", "signatureHelp", "definition", "documentHighlight", "selectionRange"} {
				_, err := e.try("textDocument/"+method, object{"textDocument": object{"uri": e.uri(name)}, "position": at, "positions": []lspPosition{at}, "context": object{}})
				if err != nil {
					t.Errorf("%s behind %q: %v", method, key+part, err)
				}
			}
		}
	}
	e.replaceAll(name, before+after)
	if got := e.raw(name); len(got) != 0 {
		t.Errorf("the file without the line: %q", got)
	}
}
