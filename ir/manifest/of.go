package manifest

import (
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// inherited are the variables of its own environment that a program hands to every command (runtime/exectool).
var inherited = []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// Of lists what a workflow and its sub-workflows can touch: of the tools those that steps call.
func Of(p *check.Program) *Manifest {
	c := &collector{hosts: set{}, networks: set{}, commands: set{}, env: set{}, secrets: set{}, packages: set{}, code: set{}, models: set{}, effects: set{}, grants: set{}, claims: set{}, servers: set{}, unisolated: set{}, people: set{}, asked: set{}, slots: set{}, timeouts: set{}}
	tools := map[*ir.Tool]bool{}
	for _, s := range p.Table {
		for _, t := range s.Tools() {
			if !tools[t] {
				tools[t] = true
				c.tool(t)
				c.timeout(t)
				if p.Sandbox[t] == "none" {
					c.unisolated.add(t.FullName())
				}
			}
		}
		for _, m := range s.Models() {
			c.models.add(m.Model.Name)
			c.hosts.add(host(m.Address()))
			c.asked.add(asked(m))
			if name, _ := m.Split(); m.Provided {
				c.slots.add("provider " + name)
			}
			if m.BaseEnv != "" {
				c.env.add(m.BaseEnv)
			}
			if m.Reach != nil {
				c.reach(m.Reach)
			}
			c.secrets.add(p.Names.Keys[m])
			c.effects.add(ir.EffectsAsks.String())
		}
		if s.Question != nil || s.AsksFirst() != nil {
			c.people.add(s.Node.ID.Name)
			c.effects.add(ir.EffectsReads.String())
		}
		// tools, models and questions of a step are above, whatever its verb
		ir.Switch(s.Node.Verb,
			func(*ir.ToolCall) {}, func(*ir.ToolChoice) {}, func(*ir.LLM) {},
			func(v *ir.Agent) { c.models.add(v.Model.Name) },
			func(*ir.Human) {}, func(*ir.Let) {},
			func(v *ir.GoCall) { c.function(v.Func) },
			func(*ir.Map) {}, func(*ir.Loop) {}, func(*ir.Flow) {}, func(*ir.Fail) {}, func(*ir.Wait) {}, func(*ir.Parse) {}, func(*ir.Perform) {},
		)
	}
	agents, most := agents(p), worst(p)
	out := &Manifest{Agents: agents, AtMost: most, Version: Version, Workflow: p.WF.Name.Name}
	c.workflow(p.WF)
	for _, f := range p.Flows {
		c.workflow(f.WF)
	}
	if pol := p.WF.Policy; pol != nil { // those of sub-workflows only narrow it
		out.Caps = caps(pol)
		for _, n := range pol.NetAllow {
			c.networks.add(n)
		}
		if pol.EnvironmentProxy {
			for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
				c.env.add(name)
			}
		}
		for _, g := range pol.Grants {
			c.grants.add(g)
		}
	}
	out.Hosts, out.Networks, out.Commands, out.Env, out.Secrets = c.hosts.sorted(), c.networks.sorted(), c.commands.sorted(), c.env.sorted(), c.secrets.sorted()
	out.GoPackages, out.Code, out.Models, out.Effects, out.Grants = c.packages.sorted(), c.code.sorted(), c.models.sorted(), c.effects.sorted(), c.grants.sorted()
	for to, names := range map[*[]string]set{
		&out.Permissions: c.claims, &out.Servers: c.servers, &out.People: c.people, &out.Slots: c.slots, &out.Timeouts: c.timeouts,
		&out.Asked: c.asked, &out.Unisolated: c.unisolated,
	} {
		if len(names) > 0 { // JSON leaves out the others
			*to = names.sorted()
		}
	}
	return out
}

// caps are the bounds that a policy writes.
func caps(pol *ir.Policy) Caps {
	out := Caps{MaxIterations: pol.MaxIterations, MaxToolCalls: pol.MaxToolCalls, MaxTokens: pol.MaxTokens, MaxCostUSD: pol.MaxCostUSD, Sandbox: pol.SandboxMin}
	if pol.MaxTime != nil {
		out.MaxTime = pol.MaxTime.Value.String()
	}
	return out
}

// timeout takes the bound that a tool says.
func (c *collector) timeout(t *ir.Tool) {
	switch d := t.Timeout; {
	case d == nil:
	case d.Value > 0:
		c.timeouts.add(t.FullName() + " " + d.Value.String())
	default:
		c.timeouts.add(t.FullName() + " unbounded")
	}
}

// told takes the environment variables that expressions read, such as those of prompts.
func (c *collector) told(n *expr.Node) bool {
	switch {
	case n.Op == expr.Intrinsic && n.Func.Env:
		if name, ok := n.Kids[0].Value.(string); ok {
			c.env.add(name)
		}
	case n.Op == expr.Handle && n.Use.Kind == expr.UseText:
		n.Use.Ref.(*ir.TextFunc).Do.Walk(c.told)
	}
	return true
}

// asked says where a model is asked.
func asked(m *ir.Model) string {
	if at := host(m.Address()); at != "" {
		return m.Model.Name + " at " + at
	}
	return ""
}

type collector struct {
	hosts, networks, commands, env, secrets, packages, code, models, effects, grants, claims, servers, unisolated, people, asked, slots, timeouts set
}

// workflow takes what belongs to a file rather than to a step.
func (c *collector) workflow(wf *ir.Workflow) {
	for _, claim := range wf.Claims {
		c.claims.add(claim.Name)
	}
	for _, s := range wf.Secrets {
		c.secrets.add(s.Name.Name)
	}
	wf.Body.Block.Walk(c.told)
	for _, s := range wf.State {
		c.function(s.Merge.Reducer)
	}
	for _, m := range wf.Models {
		if c.models[m.Name.Name] { // a name of the file stands for its model
			delete(c.models, m.Name.Name)
			c.models.add(m.Model.Name)
			c.hosts.add(host(m.Address()))
			c.secrets.add(check.ModelKey(wf, m))
		}
	}
	for _, s := range wf.Servers {
		for tool := range c.code {
			if strings.HasPrefix(tool, "mcp:"+s.Name.Name+"/") {
				c.server(s)
				break
			}
		}
	}
}

func (c *collector) server(s *ir.Server) {
	if len(s.Command) > 0 {
		c.commands.add(s.Command[0])
		c.servers.add(s.Name.Name + ": " + s.Runs())
		for _, name := range inherited {
			c.env.add(name)
		}
	}
	if s.URL != "" {
		c.hosts.add(host(s.URL))
		c.servers.add(s.Name.Name + ": " + s.Runs())
	}
	c.auth(s.Auth)
	for _, v := range s.Env {
		c.env.add(v.Name.Name)
		c.secrets.add(v.Secret.Name)
	}
}

func (c *collector) auth(a *ir.Auth) {
	if a != nil {
		c.secrets.add(a.Secret.Name)
	}
}

func (c *collector) function(f *ir.GoFunc) {
	if f != nil && f.Bind != nil {
		c.packages.add(f.Bind.Path)
	}
}

func (c *collector) tool(t *ir.Tool) {
	if e := check.Effects(t); e != ir.EffectsNone {
		c.effects.add(e.String())
	}
	for _, claim := range t.Permissions {
		c.claims.add(claim)
	}
	c.auth(t.Auth)
	if program := ir.Interpreter(t.Binding); program != "" {
		c.commands.add(program)
	}
	switch b := t.Binding.(type) {
	case *ir.GoTool:
		c.function(b.Func)
	case *ir.SlotTool:
		c.slots.add(b.Name.Name)
	case *ir.CommandTool:
		c.command(b)
	case *ir.HTTPTool:
		switch {
		case b.Base.Name != "":
			c.hosts.add("$" + b.Base.Name)
			c.env.add(b.Base.Name)
		case b.URL != nil:
			c.hosts.add(host(b.URL.Text.Value))
		}
	case *ir.PythonTool:
		c.code.add("python:" + b.Ref.Name)
		if b.Free {
			c.env.add("*")
		}
		for _, name := range b.Env {
			c.env.add(name)
		}
	case *ir.JSTool:
		c.code.add("js:" + b.Path.Name)
		if t.In != nil && t.In.Kind == schema.Any { // of a dialect with dynamic data: it sees all variables
			c.env.add("*")
		}
	case *ir.MCPTool:
		c.code.add("mcp:" + b.Ref.Name)
	case *ir.Made:
		c.reach(b.Reach)
		ir.ValueExpressions(b.New, func(n *expr.Node) { n.Walk(c.told) })
	case *ir.StarlarkTool:
		c.code.add("starlark:" + b.Path.Name)
	case *ir.SQLTool:
		c.code.add("sql:" + b.DB.Name)
	case *ir.WasmTool:
		c.code.add("wasm:" + b.Ref())
	}
}

// reach takes what a translator says of a tool that a function makes.
func (c *collector) reach(r *ir.Reach) {
	for _, s := range []struct {
		to   set
		list []string
	}{{c.hosts, r.Hosts}, {c.commands, r.Commands}, {c.env, r.Env}, {c.code, r.Files}, {c.code, r.Code}} {
		for _, x := range s.list {
			s.to.add(x)
		}
	}
	for _, s := range r.Servers {
		c.server(s)
	}
}

func (c *collector) command(b *ir.CommandTool) {
	switch {
	case b.Shell:
		c.commands.add("sh")
	case len(b.Args) > 0 && strings.Contains(b.Args[0].Text.Value, "{{"):
		c.commands.add("*")
	case len(b.Args) > 0:
		c.commands.add(b.Args[0].Text.Value)
	}
	for _, name := range inherited {
		c.env.add(name)
	}
	if b.Inherit {
		c.env.add("*")
	}
	for _, v := range b.Env {
		c.env.add(v.Name.Name)
	}
}

var place = regexp.MustCompile(`\{[^{}]*\}`)

// host is the host of a URL, with the port if one is written. A part that is decided at run time is *.
func host(url string) string {
	if url == "" {
		return ""
	}
	_, rest, ok := strings.Cut(place.ReplaceAllString(url, "*"), "://")
	if !ok {
		return "*"
	}
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return strings.ToLower(rest)
}
