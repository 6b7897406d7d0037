package native

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// mcp reads server/tool. The name of the tool is the server's and may hold anything but a slash at its start.
func (p *parser) mcp(text source.Text) *ir.MCPTool {
	b := &ir.MCPTool{Ref: ir.Ident{Name: text.Value, Span: textSpan(text)}}
	server, tool, ok := strings.Cut(text.Value, "/")
	if !ok || server == "" || tool == "" {
		p.report(diag.BadLiteral, b.Ref.Span, "write it as in `slack/post_message`, with a server of `servers:`", "a tool of a server is `server/tool`, not `%s`", shorten(text.Value))
		return b
	}
	b.Server = ir.Ident{Name: server, Span: text.At(0, len(server))}
	b.Tool = ir.Ident{Name: tool, Span: text.At(len(server)+1, len(text.Value))}
	return b
}
