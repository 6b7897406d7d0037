package sirenspec

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// envFile reads the name of a file with variables. Nothing reads the file before the program runs: whether it is there is
// looked up.
func (p *parser) envFile(n *yamlnode.Node) {
	id, ok := p.Text(n, "`env_file`")
	switch {
	case !ok:
		return
	case id.Name == "":
		p.Report(yamlnode.NoFileName(id.Span))
		return
	case !filepath.IsLocal(filepath.FromSlash(id.Name)) || strings.Contains(id.Name, `\`):
		p.Error(diag.BadLiteral, id.Span, "put it into the folder of the workflow", "`%s` is outside the folder of the workflow", id.Name)
		return
	}
	if p.tree.EnvFile = path.Clean(id.Name); p.missing(p.tree.EnvFile) {
		p.Warn(diag.CannotRead, id.Span, "write the file, or remove `env_file`", "`%s` is not there, and without it flowgen run refuses the workflow", id.Name)
	}
}

// missing reports whether a file next to the workflow is known not to be there: links, and folders that are too large to be
// listed, are not followed.
func (p *parser) missing(name string) bool {
	if p.load == nil {
		return false
	}
	dir, parts := ".", strings.Split(name, "/")
	for i, part := range parts {
		files, folders := p.load.Folder(p.File, dir)
		switch n := len(files) + len(folders); {
		case n == 0 || n > 1000 || slices.Contains(files, part):
			return false
		case i == len(parts)-1 || !slices.Contains(folders, part):
			return true
		}
		dir = path.Join(dir, part)
	}
	return true
}
