package plan

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// A Server is an MCP server that the program starts or connects to, at the first call of one of its tools.
type Server struct {
	Name    string   `json:"name"`
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
	Env     []string `json:"env,omitempty"` // VARIABLE=SECRET, the name of the secret
	Tools   []string `json:"tools"`         // its names for those that are called
}

// servers lists those with a tool that a step calls, in the order of the files.
func servers(p *check.Program) []*Server {
	var out []*Server
	byName := map[string]*Server{} // of the variable, which servers that are the same one share
	for _, q := range append([]*check.Program{p}, p.Flows...) {
		for _, s := range q.Body.All() {
			for _, t := range s.Tools() {
				if b, ok := t.Binding.(*ir.Made); ok && b.Reach != nil {
					for _, server := range b.Reach.Servers {
						if byName[server.Name.Name] == nil {
							byName[server.Name.Name] = describeServer(server)
							out = append(out, byName[server.Name.Name])
						}
					}
				}
				server := check.ServerOf(q.WF, t)
				if server == nil {
					continue
				}
				name := p.Names.Servers[server]
				if byName[name] == nil {
					byName[name] = describeServer(server)
					out = append(out, byName[name])
				}
				if tool := t.Binding.(*ir.MCPTool).Tool.Name; !slices.Contains(byName[name].Tools, tool) {
					byName[name].Tools = append(byName[name].Tools, tool)
				}
			}
		}
	}
	return out
}

func describeServer(s *ir.Server) *Server {
	out := &Server{Name: s.Name.Name, Command: s.Command, URL: s.URL, Tools: []string{}}
	for _, v := range s.Env {
		out.Env = append(out.Env, v.Name.Name+"="+v.Secret.Name)
	}
	return out
}
