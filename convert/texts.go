package convert

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/goname"
)

// Template makes a node that calls a function, which is written in Go beside the workflow: a text whose template has more than
// the native language says.
func (c *Converter) Template(id string, t TextFunc, with ...*ir.Entry) *ir.Node {
	name := t.Name.Name
	for i := 2; ; i++ {
		k := slices.IndexFunc(c.functions, func(f TextFunc) bool { return f.Name.Name == t.Name.Name })
		if k < 0 {
			c.functions = append(c.functions, t)
			break
		}
		if same := c.functions[k]; same.String() == t.String() && slices.Equal(same.Null, t.Null) {
			break
		}
		t.Name.Name = name + "_" + strconv.Itoa(i)
	}
	folder := path.Base(path.Dir(c.textsFile()))
	return &ir.Node{ID: Name(id), Verb: Call("./"+folder+"."+goname.Exported(t.Name.Name), with...)}
}

// textsFile is the name of the Go file.
func (c *Converter) textsFile() string {
	name := c.Workflow.File.Name
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	return path.Join(path.Dir(name), goname.Package(stem+"texts"), "texts.go")
}
