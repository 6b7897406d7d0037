package mcptool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxPages bounds the pages of a listing.
const maxPages = 500

// parts are what is locked of a tool, besides its name.
var parts = []string{"title", "description", "annotations", "inputSchema", "outputSchema"}

// partNames are the words for them in messages.
var partNames = []string{"title", "description", "annotations", "input schema", "output schema"}

// listed is a tool as the server lists it.
type listed struct {
	name  string
	json  []byte // what is locked of it, canonical
	hash  string
	parts string
	twice bool // another tool of the server has the same name
}

// describe makes what is locked of a tool. The hash is SHA-256 of the canonical JSON of an object with name, title,
// description, annotations, inputSchema and outputSchema, those that the tool has.
func describe(tool value.Value) (*listed, error) {
	name, _ := tool.Get("name")
	if name.Kind() != value.StringKind || name.String() == "" {
		return nil, value.Invalid("a tool has no name")
	}
	entries := []value.Entry{{Key: "name", Value: name}}
	var sums []string
	for _, part := range parts {
		v, ok := tool.Get(part)
		if !ok || v.IsNull() {
			sums = append(sums, "-")
			continue
		}
		entries = append(entries, value.Entry{Key: part, Value: v})
		b, err := value.AppendCanonical(nil, v)
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum(b)[:8])
	}
	b, err := value.AppendCanonical(nil, value.Map(entries...))
	if err != nil {
		return nil, err
	}
	return &listed{name: name.String(), json: b, hash: "sha256:" + sum(b), parts: strings.Join(sums, " ")}, nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// compare returns nil when the tool that p pins is among the tools as it was locked.
func (s *Server) compare(p Pin, tools map[string]*listed) error {
	tool := tools[p.Tool]
	what := ""
	switch {
	case tool == nil:
		what = "server " + s.name + " no longer has a tool " + shown(p.Tool)
	case tool.twice:
		what = "server " + s.name + " has two tools " + shown(p.Tool)
	case tool.hash != p.Hash:
		what = "tool " + shown(p.Tool) + " of server " + s.name + " is not what was locked: " + changedParts(p.Parts, tool.parts)
	default:
		return nil
	}
	return s.fault(value.PolicyDenied, what+"; it was not called. Review what has changed with `flowgen lock --check`",
		value.Entry{Key: "tool", Value: value.String(shown(p.Tool))})
}

func changedParts(old, now string) string {
	a, b := strings.Fields(old), strings.Fields(now)
	var names []string
	for i := range partNames {
		if len(a) == len(partNames) && len(b) == len(partNames) && a[i] != b[i] {
			names = append(names, partNames[i])
		}
	}
	if names == nil {
		return "it has changed"
	}
	return "its " + strings.Join(names, " and its ") + " changed"
}

// list asks for the tools, page by page.
func (x *session) list(ctx context.Context) (map[string]*listed, error) {
	out := map[string]*listed{}
	total, cursor := 0, ""
	seen := map[string]bool{}
	for {
		raw, next, err := x.page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		if total += len(raw); total > MaxListing {
			return nil, x.server.fault(value.PolicyDenied, "server "+x.server.name+" lists more tools than the size limit allows",
				value.Entry{Key: "max_bytes", Value: value.Int(MaxListing)})
		}
		if err := x.server.read(raw, out); err != nil {
			return nil, err
		}
		if len(out) > MaxTools {
			return nil, x.server.fault(value.PolicyDenied, "server "+x.server.name+" lists too many tools",
				value.Entry{Key: "max_tools", Value: value.Int(MaxTools)})
		}
		if next == "" {
			return out, nil
		}
		if seen[next] {
			return nil, x.server.fault(value.ProviderError, "server "+x.server.name+" lists its tools endlessly")
		}
		if len(seen) == maxPages {
			return nil, x.server.fault(value.PolicyDenied, "server "+x.server.name+" lists its tools on too many pages",
				value.Entry{Key: "max_pages", Value: value.Int(maxPages)})
		}
		seen[next] = true
		cursor = next
	}
}

// page asks for one page. Of a page that the client still has, because the server allows to keep it, nothing comes over
// the wire: then it is what it was before.
func (x *session) page(ctx context.Context, cursor string) (raw []byte, next string, err error) {
	a := &answer{}
	err = x.patiently(ctx, func(ctx context.Context) error {
		res, err := x.client.ListTools(a.in(ctx), &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return err
		}
		next = res.NextCursor
		return nil
	})
	if err != nil {
		return nil, "", x.failed(ctx, a, err)
	}
	if raw = a.result(); raw == nil {
		raw = x.pages[cursor]
	}
	if x.pages == nil {
		x.pages = map[string][]byte{}
	}
	x.pages[cursor] = raw
	return raw, next, nil
}

// read adds the tools of a page. A tool that cannot be read is left out: it cannot be called.
func (s *Server) read(page []byte, out map[string]*listed) error {
	v, err := value.Parse(page)
	if err != nil {
		return s.fault(value.ProviderError, "server "+s.name+" lists its tools in a way that cannot be read: "+plain.Line(err.Error(), messageRunes))
	}
	tools, _ := v.Get("tools")
	for i := range tools.Len() {
		tool, err := describe(tools.Index(i))
		if err != nil {
			continue
		}
		if other := out[tool.name]; other != nil {
			other.twice = true
			continue
		}
		out[tool.name] = tool
	}
	return nil
}

// A Listing is what a server offers, for `flowgen lock`.
type Listing struct {
	Protocol string   `json:"protocol"`
	Name     string   `json:"name"`    // of the server, by its own account
	Version  string   `json:"version"` // likewise
	Tools    []Listed `json:"tools"`   // by name
}

// Listed is one tool of a listing.
type Listed struct {
	Name  string `json:"name"`
	JSON  string `json:"json"` // what is locked: an object with name, title, description, annotations, inputSchema, outputSchema
	Twice bool   `json:"twice"`
}

// List binds a tool that lists what the server offers, now.
func List(name string, s *Server) *flow.Tool[struct{}, Listing] {
	return flow.Bind(name, flow.External, func(ctx context.Context, _ struct{}) (out Listing, err error) {
		ctx, cancel := limited(ctx)
		defer cancel()
		x, err := s.open(ctx)
		if err != nil {
			return out, err
		}
		x.calls.Add(1)
		defer x.calls.Add(-1)
		x.changed()
		tools, err := x.listed(ctx)
		if err != nil {
			return out, err
		}
		if r := x.client.InitializeResult(); r != nil {
			out.Protocol = r.ProtocolVersion
			if r.ServerInfo != nil {
				out.Name, out.Version = r.ServerInfo.Name, r.ServerInfo.Version
			}
		}
		for _, n := range slices.Sorted(maps.Keys(tools)) {
			out.Tools = append(out.Tools, Listed{n, string(tools[n].json), tools[n].twice})
		}
		return out, nil
	}, s.options()...)
}
