package mcplock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Resolve gives the tools of servers, in wf and its sub-workflows, the types that flowgen.lock says. A tool that is not
// in the lock file gets the reason, which ir/check reports when the tool matters, and poison types. What is returned are the
// documents and databases that are locked, by the tools that are operations or statements of them.
func Resolve(wf *ir.Workflow, sink *diag.Sink) map[*ir.Tool]*Server {
	r := &resolver{sink: sink, locks: map[*source.File]*Lock{}, seen: map[*ir.Workflow]bool{}, documents: map[*ir.Tool]*Server{}}
	r.workflow(wf)
	return r.documents
}

type resolver struct {
	sink  *diag.Sink
	locks map[*source.File]*Lock
	seen  map[*ir.Workflow]bool

	documents map[*ir.Tool]*Server
}

func (r *resolver) workflow(wf *ir.Workflow) {
	if wf == nil || r.seen[wf] {
		return
	}
	r.seen[wf] = true
	for _, t := range wf.Tools {
		switch b := t.Binding.(type) {
		case *ir.MCPTool:
			if b.Server.Name != "" && b.Tool.Name != "" {
				r.tool(wf, t, b)
			}
		case *ir.OpenAPITool:
			l, _ := r.lock(wf)
			if s := l.Document(b); s != nil && s.Document {
				r.documents[t] = s
			}
		case *ir.SQLTool:
			l, _ := r.lock(wf)
			if s := l.Server(Database(b)); s != nil && s.SQL != "" {
				r.documents[t] = s
			}
		}
	}
	for _, f := range wf.Flows {
		r.workflow(f)
	}
}

// lock is what the lock file next to a workflow holds; broken tells that it was reported.
func (r *resolver) lock(wf *ir.Workflow) (l *Lock, broken bool) {
	if wf.Lock == nil {
		return nil, false
	}
	l, done := r.locks[wf.Lock]
	if !done {
		l = Parse(wf.Lock, r.sink)
		r.locks[wf.Lock] = l
	}
	return l, l == nil
}

func (r *resolver) tool(wf *ir.Workflow, t *ir.Tool, b *ir.MCPTool) {
	server := serverOf(wf, b.Server.Name)
	l, broken := r.lock(wf)
	if server == nil || broken {
		foreign.Poison(t) // the first is ir/check's to report, the second was
		b.Reported = broken
		return
	}
	locked := r.find(l, server, b)
	if locked == nil {
		foreign.Poison(t)
		return
	}
	b.Hash, b.Parts = locked.Hash, locked.Parts
	sig := foreign.Signature{Name: b.Ref.Name, Span: locked.span, Description: oneLine(locked.Description())}
	sig.In, sig.Open = locked.input()
	out, open := locked.output()
	sig.Out = out
	b.Result, b.Open = ir.MCPJSON, open
	switch {
	case t.Out != nil && t.Out.Kind == schema.Any:
		b.Result, sig.Out = ir.MCPAny, t.Out
	case t.Out != nil && t.Out.Kind == schema.String && (out == nil || out.Kind != schema.String), t.Out == nil && out == nil:
		b.Result, sig.Out = ir.MCPText, schema.StringType
	case out == nil:
		sig.Out = t.Out // JSON in the text, decoded as declared
	case out.Kind == schema.Any:
		b.Result = ir.MCPAny
	}
	foreign.Fill(t, sig, r.sink)
}

// Database is the name of the entry of a statement's database.
func Database(b *ir.SQLTool) string { return "sql:" + b.DB.Name }

func serverOf(wf *ir.Workflow, name string) *ir.Server {
	for _, s := range wf.Servers {
		if s.Name.Name == name {
			return s
		}
	}
	return nil
}

// find is the locked tool, nil with a reason in b.
func (r *resolver) find(l *Lock, server *ir.Server, b *ir.MCPTool) *Tool {
	name := b.Server.Name
	if l == nil {
		b.Why, b.Help = fmt.Sprintf("%s is not locked: %s does not exist next to the workflow", b.Ref.Name, Name), runLock
		return nil
	}
	s := l.Server(name)
	if s == nil {
		b.Why, b.Help = fmt.Sprintf("%s is not locked: %s does not know server %q", b.Ref.Name, Name, name), runLock
		return nil
	}
	if !s.Is(server) {
		b.Why = fmt.Sprintf("server %q is not the one that was locked: that was %s", name, diag.Printable(s.Runs()))
		b.Help = runLock
		b.Related = s.span
		return nil
	}
	t := s.Tool(b.Tool.Name)
	switch {
	case t != nil:
		return t
	case slices.Contains(s.Others, b.Tool.Name):
		b.Why, b.Help = fmt.Sprintf("tool %q of server %q is not locked", b.Tool.Name, name), runLock
	default:
		b.Why = fmt.Sprintf("server %q has no tool %q", name, b.Tool.Name)
		b.Related = s.span
		if near := diag.Nearest(b.Tool.Name, s.names()); near != "" {
			b.Near = near
		} else {
			b.Help = "it has " + some(s.names()) + "; if it is new, run `flowgen lock`"
		}
	}
	return nil
}

const runLock = "run `flowgen lock`, and look at what it writes"

// some are the first names of a list.
func some(names []string) string {
	const most = 8
	if len(names) == 0 {
		return "no tools"
	}
	var out []string
	for _, n := range names[:min(most, len(names))] {
		out = append(out, "`"+diag.Printable(n)+"`")
	}
	if len(names) > most {
		return strings.Join(out, ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(out, ", ")
}

// Is tells whether the server was locked as it is declared.
func (s *Server) Is(d *ir.Server) bool {
	return s.URL == d.URL && slices.Equal(s.Command, d.Command)
}

// Runs is the command or the address of the server.
func (s *Server) Runs() string {
	if s.URL != "" {
		return s.URL
	}
	return ir.CommandLine(s.Command)
}
