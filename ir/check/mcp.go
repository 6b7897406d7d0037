package check

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// mcpTool checks that a tool of a server is locked. One that an included file brings matters only when it is used.
func (c *checker) mcpTool(t *ir.Tool, b *ir.MCPTool) {
	if t.File != c.wf.File && !c.used[t] || b.Server.Name == "" {
		return
	}
	if t.Auth != nil {
		c.report(diag.Diagnostic{Code: diag.BadServer, Span: t.Auth.Secret.Span, Message: "a tool of a server has no `auth` of its own",
			Help: "write it at the server: `servers: {" + b.Server.Name + ": {url: ..., auth: ...}}`"})
	}
	if c.server(b.Server.Name) == nil {
		d := UnknownServer(c.wf, b.Server)
		if d.Help == "" {
			d.Help = "declare it: `servers: {" + b.Server.Name + ": {command: [...]}}`"
		}
		c.report(d)
		return
	}
	if b.Hash != "" || b.Why == "" {
		return
	}
	d := diag.Diagnostic{Code: diag.NotLocked, Span: b.Ref.Span, Message: b.Why, Help: b.Help}
	if b.Near != "" {
		d.Span = b.Tool.Span
		d.Help = "replace with `" + b.Near + "`; if it is new, run `flowgen lock`"
		if b.Tool.Span.Text() == b.Tool.Name {
			d.Fixes = []diag.Fix{diag.Replace(b.Tool.Span, b.Near)}
		}
	}
	if !b.Related.IsZero() {
		d.Related = []diag.Related{{Span: b.Related, Message: "what is locked"}}
	}
	c.report(d)
}

func (c *checker) server(name string) *ir.Server {
	for _, s := range c.wf.Servers {
		if s.Name.Name == name {
			return s
		}
	}
	return nil
}

// ServerOf is the server of a tool of wf, nil when the tool is not one of a server.
func ServerOf(wf *ir.Workflow, t *ir.Tool) *ir.Server {
	if b, ok := t.Binding.(*ir.MCPTool); ok {
		for _, s := range wf.Servers {
			if s.Name.Name == b.Server.Name {
				return s
			}
		}
	}
	return nil
}

// server names the variable of a server. One that starts the same program with the same secrets as another is that
// other: there is no need for two processes. Two addresses may be reached under different policies.
func (n *Names) server(s *ir.Server, prefix string) {
	if s == nil || n.Servers[s] != "" {
		return
	}
	for other, name := range n.Servers {
		if s.Name.Name == other.Name.Name && sameProgram(s, other) {
			n.Servers[s] = name
			return
		}
	}
	key := s.Name.Name
	if prefix != "" {
		key = prefix + "_" + key
	}
	n.Servers[s] = n.take(goname.Local(key+"_server"), s.Name.Span)
}

func sameProgram(a, b *ir.Server) bool {
	return len(a.Command) > 0 && slices.Equal(a.Command, b.Command) && slices.EqualFunc(a.Env, b.Env, func(x, y ir.EnvVar) bool {
		return x.Name.Name == y.Name.Name && x.Secret.Name == y.Secret.Name
	})
}

// servers checks what the servers say about themselves.
func (c *checker) servers() {
	for _, s := range c.wf.Servers {
		bad := func(at source.Span, message, help string) {
			c.report(diag.Diagnostic{Code: diag.BadServer, Span: at, Message: message, Help: help})
		}
		if s.Auth != nil {
			c.serverSecret(s, s.Auth.Secret)
			if s.Auth.Kind == "header" && connectionHeader(s.Auth.Header) {
				bad(s.Auth.Secret.Span, "header `"+s.Auth.Header+"` is set by the connection", "name the header in which the server expects the secret")
			}
		}
		for _, v := range s.Env {
			c.serverSecret(s, v.Secret)
		}
		switch {
		case len(s.Command) > 0 && s.Auth != nil:
			bad(s.Auth.Secret.Span, "`auth` goes with `url`", "pass the secret to the program: `env: {TOKEN: {secret: "+s.Auth.Secret.Name+"}}`")
		case s.URL != "" && len(s.Env) > 0:
			bad(s.Env[0].Name.Span, "`env` goes with `command`", "write `auth: {bearer: SECRET}`")
		case s.URL != "":
			if why, help := wrongAddress(s.URL); why != "" {
				bad(s.Name.Span, "the address of server \""+s.Name.Name+"\" "+why, help)
			}
		}
		if slices.Contains(s.Command[:min(1, len(s.Command))], "") {
			bad(s.Name.Span, "the command of server \""+s.Name.Name+"\" has no program", "write it as in `command: [slack-mcp, --stdio]`")
		}
	}
}

// serverSecret checks that a secret of a server is declared. An included file cannot declare secrets: there it matters
// only when a tool of the server is used.
func (c *checker) serverSecret(s *ir.Server, secret ir.Ident) {
	if s.Span.File == c.wf.File || c.serverUsed(s) {
		c.secret(secret)
	}
}

func (c *checker) serverUsed(s *ir.Server) bool {
	return slices.ContainsFunc(c.wf.Tools, func(t *ir.Tool) bool {
		b, ok := t.Binding.(*ir.MCPTool)
		return ok && b.Server.Name == s.Name.Name && c.used[t]
	})
}

// wrongAddress says what is wrong with the address of a server, "" when nothing is.
func wrongAddress(text string) (why, help string) {
	const form = "write it as in `https://mcp.example.com/mcp`"
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "is not a URL that starts with `https://` or `http://`", form
	case strings.ContainsAny(text, " \t\r\n\\{}"):
		return "has spaces, backslashes or braces in it", form
	case u.User != nil:
		return "contains a user or a password", "declare a secret and use `auth`"
	case u.Fragment != "":
		return "has a fragment, which is not sent", "remove it"
	}
	return "", ""
}

// UnknownServer is the mistake of a tool whose server wf does not declare.
func UnknownServer(wf *ir.Workflow, id ir.Ident) diag.Diagnostic {
	var names []string
	for _, s := range wf.Servers {
		names = append(names, s.Name.Name)
	}
	d := diag.Diagnostic{Code: diag.UnknownName, Span: id.Span, Message: fmt.Sprintf("server %q is not declared", id.Name)}
	diag.Suggest(&d, id.Name, names)
	return d
}
