package codegen

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// options are what a tool declares for the gates of its calls, in the order of the gates. Every binding hands them to
// flow.Bind. What is the default is not written.
func (g *generator) options(t *ir.Tool) []jen.Code {
	var out []jen.Code
	option := func(name string, args ...jen.Code) {
		out = append(out, jen.Qual(flowPath, ident(name)).Call(args...))
	}
	switch t.State {
	case "deprecated":
		option("Deprecated")
	case "blocked":
		option("Blocked")
	}
	if len(t.Permissions) > 0 {
		option("Permissions", quoted(t.Permissions)...)
	}
	if cost := strings.Trim(t.CostUSD, "0."); cost != "" {
		option("CostUSD", quote(t.CostUSD))
	}
	if t.Usage != nil {
		out = append(out, jen.Qual(toolPath, "Spends").Call(jen.Qual(importPath(t.Usage.Path), ident(t.Usage.Name))))
	}
	if name := replayName(t); name != "" {
		option("Replay", jen.Qual(flowPath, ident(name)))
	}
	switch {
	case t.Cache == "forever":
		option("CacheForever")
	case t.Cache == "ttl" && t.CacheTTL != nil:
		option("CacheFor", durationCode(t.CacheTTL.Value))
	}
	if n, per, ok := rateOf(t.Rate); ok {
		option("Rate", jen.Lit(n), durationCode(per))
	}
	if t.Queue != "" {
		out = append(out, jen.Qual(flowPath, "Queue").Call(quote(t.Queue)))
	}
	switch {
	case t.IdempotencyKey != nil:
		option("IdempotencyKey", g.idempotencyKey(t))
	case t.Idempotency:
		option("Idempotent")
	}
	if t.InDoubt != nil && t.InDoubt.Policy != "fail" {
		option("OnInDoubt", doubt(t.InDoubt, t))
	}
	if _, ok := t.Binding.(*ir.StarlarkTool); ok && t.MaxOutput > 0 { // the others bound what they read
		option("MaxOutput", jen.Lit(int(t.MaxOutput)))
	}
	if t.Timeout != nil {
		d := jen.Code(jen.Lit(0))
		if t.Timeout.Value > 0 {
			d = durationCode(t.Timeout.Value)
		}
		out = append(out, jen.Qual(toolPath, "Timeout").Call(d))
	}
	switch g.p.Sandbox[t] {
	case check.Process:
		out = append(out, jen.Qual(sandboxPath, "Process").Call(sandboxReads(t)...))
	case check.GVisor:
		out = append(out, jen.Qual(sandboxPath, "GVisor").Call(sandboxReads(t)...))
	}
	return out
}

// replayName is the constant of a replay policy that differs from what follows from the effects (ToolSpec).
func replayName(t *ir.Tool) string {
	usual := "must-stub"
	if check.Effects(t) <= ir.EffectsReads {
		usual = "recorded-result"
	}
	if t.Replay == usual {
		return ""
	}
	return map[string]string{"must-stub": "MustStub", "fail-loud": "FailLoud", "recorded-result": "RecordedResult"}[t.Replay]
}

// rateOf reads 5/s.
func rateOf(text string) (int, time.Duration, bool) {
	calls, unit, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(calls)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	return n, per, err == nil && n > 0 && per > 0
}

// idempotencyKey writes the function from the input to the key.
func (g *generator) idempotencyKey(t *ir.Tool) jen.Code {
	fn := &function{g: g, names: map[string]bool{}}
	b := &block{fn: fn, scope: &scope{}, fail: returnOut}
	text := b.valueAs(t.IdempotencyKey, schema.StringType)
	in := jen.Id("in")
	if _, constant := constantText(t.IdempotencyKey); constant {
		in = jen.Id("_")
	}
	b.add(jen.Return(text))
	return jen.Func().Params(in.Add(g.inType(t))).String().Block(b.code...)
}

// sandboxReads are the files and directories that an isolated tool reads besides its program and its modules.
func sandboxReads(t *ir.Tool) []jen.Code {
	if c, ok := t.Binding.(*ir.CommandTool); ok && c.Dir != nil {
		dir, _ := constantText(c.Dir) // check has seen that it is one
		return []jen.Code{quote(dir)}
	}
	return nil
}

// tierNames are the constants of the sandbox tiers that isolate.
var tierNames = map[string]string{"wasm": "Wasm", "process": "Process", "container": "Container", "gvisor": "GVisor"}

// policy is what a run may do, as far as that is not certain before it begins: bounds, and capabilities where a tool
// claims one. nil when nothing is left to watch.
func (g *generator) policy(p *check.Program) jen.Code {
	pol := p.WF.Policy
	if pol == nil {
		return nil
	}
	claims := slices.ContainsFunc(g.programs(), func(p *check.Program) bool { // those of sub-workflows are under it too
		return slices.ContainsFunc(p.Body.All(), func(s *check.Step) bool {
			return slices.ContainsFunc(s.Tools(), func(t *ir.Tool) bool { return len(t.Permissions) > 0 })
		})
	})
	if pol.MaxToolCalls == nil && pol.MaxCostUSD == "" && pol.MaxTokens == nil && pol.MaxTime == nil && pol.Grants == nil && tierNames[pol.SandboxMin] == "" && !claims {
		return nil
	}
	var fields []jen.Code
	add := func(name string, v jen.Code) { fields = append(fields, field(name, v)) }
	if len(pol.Grants) > 0 {
		add("Grants", jen.Index().String().Values(quoted(pol.Grants)...))
	}
	if len(pol.Effects) > 0 {
		var effects []jen.Code
		for _, e := range pol.Effects {
			effects = append(effects, effectsName(e))
		}
		add("Effects", jen.Index().Qual(flowPath, "Effects").Values(effects...))
	}
	if pol.MaxToolCalls != nil {
		add("MaxToolCalls", jen.Lit(int(*pol.MaxToolCalls)))
	}
	if pol.MaxCostUSD != "" {
		add("MaxCostUSD", quote(pol.MaxCostUSD))
	}
	if pol.MaxTokens != nil {
		add("MaxTokens", wholeNumber(*pol.MaxTokens))
	}
	if pol.MaxTime != nil {
		add("MaxTime", durationCode(pol.MaxTime.Value))
	}
	if tier := tierNames[pol.SandboxMin]; tier != "" {
		add("MinSandbox", jen.Qual(runtimePath, ident(tier)))
	}
	return jen.Op("&").Qual(runtimePath, "Policy").Values(fields...)
}

func quoted(list []string) []jen.Code {
	var out []jen.Code
	for _, s := range list {
		out = append(out, quote(s))
	}
	return out
}

// secretOwners are the owners of the secrets that say from whom they may come, nil when none does. A secret that several
// workflows declare comes from whom all of them allow.
func (g *generator) secretOwners() jen.Code {
	from := map[string][]string{}
	var names []string
	for _, p := range g.programs() {
		for _, s := range p.WF.Secrets {
			name := s.Name.Name
			switch have, ok := from[name]; {
			case len(s.From) == 0:
			case !ok:
				from[name], names = s.From, append(names, name)
			default:
				from[name] = slices.DeleteFunc(slices.Clone(have), func(o string) bool { return !slices.Contains(s.From, o) })
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	var entries []jen.Code
	for _, name := range names {
		var owners []jen.Code
		for _, word := range []string{"user", "workspace", "org"} { // their order is not that of the file
			if slices.Contains(from[name], word) {
				owners = append(owners, jen.Qual(runtimePath, ident(map[string]string{"user": "User", "workspace": "Workspace", "org": "Org"}[word])))
			}
		}
		entries = append(entries, jen.Add(quote(name)).Op(":").Values(owners...))
	}
	return jen.Map(jen.String()).Index().Qual(runtimePath, "Owner").Values(entries...)
}

// needs are the sandbox tiers that must be there before a run begins, each with the first node whose tool runs in it. A WebAssembly
// module runs everywhere.
func (g *generator) needs() []jen.Code {
	var out []jen.Code
	for _, tier := range []string{check.Process, check.GVisor} {
		for _, s := range g.p.Table {
			if slices.ContainsFunc(s.Tools(), func(t *ir.Tool) bool { return g.p.Sandbox[t] == tier }) {
				name := func() *jen.Statement { return jen.Qual(runtimePath, ident(tierNames[tier])) }
				out = append(out, jen.Values(field("Node", jen.Op("&").Id(ident(g.p.Names.Nodes[s]))), field("Isolation", jen.Qual(sandboxPath, "In").Call(name())), field("Tier", name())))
				break
			}
		}
	}
	return out
}
