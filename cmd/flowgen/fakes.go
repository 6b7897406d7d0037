package main

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// fakesFile is the name of the file with the fakes next to a generated file. Tests of other packages use them, so it is no
// _test.go; programs that do not name them do not link them.
func fakesFile(flow string) string { return strings.TrimSuffix(flow, ".go") + fakesEnd }

const fakesEnd = "_fakes.go"

// fakesOutput is the file with the fakes of a workflow: when they are wanted, and from then on as long as it is there.
func (a *app) fakesOutput(c *compiled, to target, opts codegen.Options, wanted bool, sink *diag.Sink) (*output, error) {
	file := fakesFile(to.file)
	existing, err := readOwn(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if existing == nil && !wanted || existing != nil && !wanted && !isGenerated(existing) {
		return nil, nil
	}
	if existing != nil && !isGenerated(existing) {
		sink.Report(foreign(file, elsewhere))
		return nil, nil
	}
	if c.workflow.Public {
		return nil, unusablef("%s: fakes are for native workflows; `flowgen convert` makes one", oneLine(c.name))
	}
	a.file = c.name
	text, err := codegen.Fakes(c.program, opts)
	if err != nil {
		return nil, &fault{what: err.Error(), file: c.name}
	}
	a.file = ""
	return &output{target: target{file: file, pkg: to.pkg, existing: existing}, from: c, text: text}, nil
}
