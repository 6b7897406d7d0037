package check

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// The sandbox tiers that this version has: a WebAssembly module in the program, a process without rights, and a process with a kernel
// of its own.
const (
	Wasm    = "wasm"
	Process = "process"
	GVisor  = "gvisor"
)

// tiers are the words of the language, from the least isolation to the most.
var tiers = []string{"native", Wasm, Process, "container", GVisor}

// rank is the place of a tier in the order; 0 for no tier.
func rank(tier string) int { return max(slices.Index(tiers, tier), 0) }

// ProcessTier is the least tier that isolates a process at least as well as the one a policy or a tool asks for; "" for none.
func ProcessTier(least string) string {
	switch {
	case rank(least) == 0:
		return ""
	case rank(least) <= rank(Process):
		return Process
	}
	return GVisor
}

// asksForTier reports whether a word of the workflow names a tier that isolates.
func asksForTier(word string) bool { return word != "" && word != "native" }

// isProcess reports whether a tool of wf runs in a process of its own: it can do what its user can, unless it is isolated.
func isProcess(wf *ir.Workflow, t *ir.Tool) bool {
	switch b := t.Binding.(type) {
	case *ir.CommandTool, *ir.PythonTool:
		return true
	case *ir.Made:
		return b.Runs()
	case *ir.JSTool:
		return b.Engine != embedded
	case *ir.MCPTool:
		server, _, _ := strings.Cut(b.Ref.Name, "/")
		return slices.ContainsFunc(wf.Servers, func(s *ir.Server) bool { return s.Name.Name == server && len(s.Command) > 0 })
	}
	return false
}

// embedded is the engine that runs JavaScript inside the program.
const embedded = "embedded"

// tier checks the isolation that a tool asks for.
func (c *checker) tier(t *ir.Tool) {
	if !asksForTier(t.Sandbox.Name) || t.File != c.wf.File && !c.used[t] {
		return
	}
	if t.Sandbox.Name == "container" {
		c.noTier(t.Sandbox.Name, t.Sandbox.Span)
		return
	}
	if why, help := unfit(t, t.Sandbox.Name); why != "" {
		c.report(diag.Diagnostic{Code: diag.NotIsolated, Span: t.Sandbox.Span, Message: "tool \"" + t.Key.Name + "\" cannot run in a sandbox: " + why, Help: help})
	}
}

func (c *checker) noTier(tier string, at source.Span) {
	c.report(diag.Diagnostic{Code: diag.Unavailable, Span: at, Message: "this version of flowgen has no sandbox tier `" + tier + "`",
		Help: "write `gvisor`, which isolates better, or `process`, which needs nothing installed on Linux"})
}

// unfit says why a tool cannot run in a tier; "" when it can.
func unfit(t *ir.Tool, tier string) (why, help string) {
	_, module := t.Binding.(*ir.WasmTool)
	switch {
	case module && rank(tier) > rank(Wasm):
		return "a WebAssembly module runs in the program, in the tier `wasm`", "write `wasm`, or run the module as a `command` of its own"
	case module:
		return "", ""
	}
	if why, help := notIsolated(t); why != "" || tier != Wasm {
		return why, help
	}
	return "only a WebAssembly module runs in the tier `wasm`", "write `process`, or compile the tool to WebAssembly and write `wasm: tool.wasm`"
}

// notIsolated says why a tool cannot be a process without rights; "" when it can.
func notIsolated(t *ir.Tool) (why, help string) {
	switch b := t.Binding.(type) {
	case *ir.GoTool:
		return "a Go function is part of the program", "make a program of it and call that with `command`, or remove `sandbox`"
	case *ir.SlotTool:
		return "the implementation of a slot is part of the program", "remove `sandbox`"
	case *ir.HTTPTool, *ir.OpenAPITool:
		return "the program makes the request itself and runs no other code", "remove `sandbox`; `policy.net` bounds what requests can reach"
	case *ir.SQLTool:
		return "the program sends the statement itself and runs no other code", "remove `sandbox`"
	case *ir.StarlarkTool:
		return "Starlark runs in the program, where it can reach nothing and its steps are counted", "remove `sandbox`"
	case *ir.MCPTool:
		return "all of its tools share one server, which uses the network", "start the server in a sandbox of its own and give its `url`, or remove `sandbox`"
	case *ir.JSTool:
		if b.Engine == embedded {
			return "`engine: embedded` runs JavaScript inside the program", "remove `engine`, so that Node runs it"
		}
	case *ir.Made:
		switch {
		case !b.Runs():
			return "the program does its work itself and starts no process", "remove `sandbox`"
		case !b.Gated():
			return "its process outlives a call and uses the network", "remove `sandbox`, or use another tool"
		}
	case *ir.CommandTool:
		if b.Dir != nil && b.Dir.Tmpl != nil && !fixed(b.Dir) {
			return "`dir` is what an isolated command may read, so it cannot depend on the input", "write a fixed directory and pass the rest as an argument"
		}
	}
	return "", ""
}

// fixed reports whether a template is a text without expressions.
func fixed(t *ir.Template) bool {
	for _, s := range t.Tmpl.Segments {
		if s.Expr != nil {
			return false
		}
	}
	return true
}

// isolate says of every tool in use and of every step how tools run: as they ask for, and, where they run as processes, as the policies
// require of the workflow that calls them and of those that call it. A tool that cannot give what a policy requires is a mistake.
func (p *Program) isolate(sink *diag.Sink) {
	w := &isolation{root: p, sink: sink, tools: map[*ir.Tool]string{}, seen: map[visited]bool{}, told: map[*ir.Tool]bool{}}
	w.walk(p, nil)
	p.Sandbox = w.tools
	w.unguarded()
	for _, s := range p.Table {
		for _, t := range s.Tools() { // of several the least
			if word := w.tools[t]; s.Sandbox == "" || slices.Index(tiers, word) < slices.Index(tiers, s.Sandbox) { // none comes first
				s.Sandbox = word
			}
		}
	}
}

// isolation is a walk through a workflow and its sub-workflows.
type isolation struct {
	root  *Program
	sink  *diag.Sink
	tools map[*ir.Tool]string
	seen  map[visited]bool
	told  map[*ir.Tool]bool
	given []choice // tools that agents can call
}

// choice is a tool that the agent of a step can call.
type choice struct {
	tool *ir.Tool
	step *Step
}

// visited is a workflow under the policy that requires isolation of it, if any.
type visited struct {
	p      *Program
	policy *ir.Policy
}

func (w *isolation) walk(p *Program, policy *ir.Policy) {
	if own := p.WF.Policy; own != nil && rank(own.SandboxMin) > 0 && (policy == nil || rank(own.SandboxMin) >= rank(policy.SandboxMin)) {
		policy = own
	}
	if w.seen[visited{p, policy}] || p.Body == nil {
		return
	}
	w.seen[visited{p, policy}] = true
	for _, s := range p.Body.All() {
		if s.Flow != nil {
			w.walk(s.Flow, policy)
		}
		for _, t := range s.Tools() {
			w.tool(p, policy, s, t)
			if b, ok := t.Binding.(*ir.Made); ok && b.Flow != nil {
				w.walk(w.root.FlowOf(b.Flow), policy)
			}
			if s.Agent != nil {
				w.given = append(w.given, choice{t, s})
			}
		}
	}
}

// tool decides about one tool of a step.
func (w *isolation) tool(p *Program, policy *ir.Policy, s *Step, t *ir.Tool) {
	if _, module := t.Binding.(*ir.WasmTool); module {
		w.tools[t] = Wasm
		if policy != nil && rank(policy.SandboxMin) > rank(Wasm) && t.Sandbox.Name == "" {
			w.require(policy, s, t)
		}
		return
	}
	process := isProcess(p.WF, t)
	asked := ProcessTier(t.Sandbox.Name) // whether it can was said where it stands
	if policy != nil && (process || isEmbedded(t) || asked != "") {
		if least := ProcessTier(policy.SandboxMin); rank(least) > rank(asked) {
			asked = least
			w.require(policy, s, t)
		}
	}
	switch {
	case rank(asked) > rank(w.tools[t]):
		w.tools[t] = asked
	case w.tools[t] == "" && process:
		w.tools[t] = "none"
	case w.tools[t] == "":
		w.tools[t] = "native"
	}
}

// unguarded warns of tools that agents can call, that have all rights of the user, and that do not say that this is meant.
func (w *isolation) unguarded() {
	for _, g := range w.given {
		t, at := g.tool, g.tool.SandboxAt
		if at.At.IsZero() || t.Sandbox.Name != "" || w.tools[t] != "none" || w.told[t] {
			continue
		}
		if _, server := t.Binding.(*ir.MCPTool); server {
			continue // it has a process for all of its tools, and no sandbox
		}
		w.told[t] = true
		insert := func(tier string) diag.Fix {
			return diag.Fix{Title: "add `sandbox: " + tier + "`", Edits: []diag.Edit{{Span: at.At, New: at.Before + tier + at.After}}}
		}
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.Unguarded, Span: t.Key.Span,
			Message: "an agent can call tool \"" + t.Key.Name + "\", which has all rights of the user",
			Help:    "write `sandbox: process`, or `sandbox: none` when it needs these rights",
			Fixes:   []diag.Fix{insert(Process), insert("none")}, Related: related(g.step.Node.ID.Span, "the agent is here")}
		if why, _ := notIsolated(t); why != "" {
			d.Help, d.Fixes = "write `sandbox: none` when it needs these rights; it cannot be isolated: "+why, d.Fixes[1:]
		}
		w.sink.Report(d)
	}
}

// require reports a tool that cannot give what a policy requires.
func (w *isolation) require(policy *ir.Policy, s *Step, t *ir.Tool) {
	why, help := unfit(t, ProcessTier(policy.SandboxMin))
	if why == "" || w.told[t] {
		return
	}
	w.told[t] = true
	w.sink.Report(diag.Diagnostic{Severity: diag.Error, Code: diag.NotIsolated, Span: policy.SandboxSpan,
		Message: "the policy requires a sandbox, and tool \"" + t.Key.Name + "\" cannot run in one: " + why, Help: help,
		Related: related(s.Node.ID.Span, "the tool is called here")})
}

// isEmbedded tools run code in the program that a policy wants in a process.
func isEmbedded(t *ir.Tool) bool {
	js, ok := t.Binding.(*ir.JSTool)
	return ok && js.Engine == embedded
}
