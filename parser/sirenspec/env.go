package sirenspec

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// envFile reads the name of a file with variables. Nothing reads the file before the program runs.
func (p *parser) envFile(n *yamlnode.Node) {
	id, ok := p.Text(n, "`env_file`")
	switch {
	case !ok:
		return
	case id.Name == "":
		p.Report(yamlnode.NoFileName(id.Span))
		return
	case !filepath.IsLocal(filepath.FromSlash(id.Name)) || strings.Contains(id.Name, `\`):
		p.Error(diag.BadLiteral, id.Span, "put it into the folder of the workflow", "`%s` is outside of the folder of the workflow", id.Name)
		return
	}
	p.tree.EnvFile = path.Clean(id.Name)
}
