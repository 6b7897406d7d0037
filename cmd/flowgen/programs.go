package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/internal/programs"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// checkPrograms notes the programs that tools and MCP servers start and that this machine lacks, each once at its place.
// Notes, because the machine that checks need not be the one that runs. Python is read by the compiler, which says so itself.
func checkPrograms(compiled []*compiled) []diag.Diagnostic {
	var out []diag.Diagnostic
	told := map[source.Span]bool{}
	for _, c := range compiled {
		if c.program == nil { // its mistakes come first
			continue
		}
		missing := func(program string, at source.Span) {
			why := missingProgram(program, at)
			if why == "" || told[at] {
				return
			}
			told[at] = true
			out = append(out, diag.Diagnostic{Severity: diag.Note, Code: diag.ProgramMissing, Span: at,
				Message: "program `" + diag.Printable(program) + "` " + why, Help: "install it where the workflow runs"})
		}
		for _, t := range toolsOf(c.workflow) {
			switch b := t.Binding.(type) {
			case *ir.CommandTool:
				if !b.Shell && b.Dir == nil && len(b.Args) > 0 {
					missing(b.Args[0].Text.Value, b.Args[0].Text.Span)
				}
			case *ir.JSTool:
				if program := ir.Interpreter(b); program != "" && os.Getenv("FLOWGEN_NODE") == "" {
					missing(program, t.Key.Span)
				}
			case *ir.Made:
				if b.Reach != nil {
					for _, program := range b.Reach.Commands {
						missing(program, t.Key.Span)
					}
				}
			}
		}
		for _, s := range serversOf(c.workflow) {
			if len(s.Command) > 0 {
				missing(s.Command[0], s.Name.Span)
			}
		}
	}
	return out
}

// missingProgram says why a program cannot be started, "" when it can or when only a run knows its name. A relative path starts
// in the folder of the file that names it.
func missingProgram(program string, at source.Span) string {
	switch {
	case program == "" || program == "*" || strings.Contains(program, "{{") || at.File == nil:
		return ""
	case !strings.ContainsRune(program, '/'):
		if exe, _ := programs.Find(program, nil); exe == "" {
			return "is not on PATH on this machine"
		}
		return ""
	}
	name := filepath.FromSlash(program)
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(filepath.FromSlash(at.File.Name)), name)
	}
	if !files.Exists(name) {
		return "is not on this machine"
	}
	return ""
}

// serversOf are the MCP servers of a workflow and its sub-workflows, in their order.
func serversOf(wf *ir.Workflow) []*ir.Server {
	servers := append([]*ir.Server(nil), wf.Servers...)
	for _, f := range wf.Flows {
		servers = append(servers, serversOf(f)...)
	}
	return servers
}
