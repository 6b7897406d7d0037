package convert

import (
	"slices"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
)

var idForm = lazyregexp.New(`^[a-z][a-z0-9_]*$`)

// taken are the names that no node and no workflow can have.
var taken = []string{"input", "state", "start", "end", "error", "run", "now", "else", "index", "in", "true", "false", "null"}

const maxName = 64

// IsID reports whether a name is one of the native language.
func IsID(name string) bool {
	return idForm.MatchString(name) && len(name) <= maxName && !slices.Contains(taken, name)
}

// NativeID is a name in the spelling of the native language: lower-case words with _ between them.
func NativeID(name string) string {
	if IsID(name) {
		return name
	}
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r >= 'A' && r <= 'Z':
			if lower {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
			lower = false
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
			lower = true
		default:
			b.WriteByte('_')
			lower = false
		}
	}
	id := strings.TrimLeft(b.String(), "_")
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = "n" + id
	}
	if len(id) > maxName {
		id = id[:maxName]
	}
	if slices.Contains(taken, id) {
		id += "_"
	}
	return id
}

// nameNodes gives every node its native id. One that cannot stay is told; two that become the same are refused.
func (c *Converter) nameNodes() {
	first := map[string]string{}
	for _, n := range everyNode(c.Workflow.Body) {
		id := NativeID(n.ID.Name)
		c.IDs[n.ID.Name] = id
		if other, twice := first[id]; twice {
			c.Refuse(n.ID.Span, "rename one of them", "the nodes %q and %q would both be called %s", other, n.ID.Name, id)
			continue
		}
		first[id] = n.ID.Name
		if id != n.ID.Name {
			c.Note(n.ID.Span, "", "the node %q is called %s: native names are lower-case letters, digits and _", n.ID.Name, id)
		}
	}
}

// everyNode lists the nodes of a body and those of loops in it.
func everyNode(b ir.Body) []*ir.Node {
	var all []*ir.Node
	for _, n := range b.Nodes {
		all = append(all, n)
		if v, ok := n.Verb.(*ir.Loop); ok {
			all = append(all, everyNode(v.Do)...)
		}
	}
	return all
}

// fieldName refuses a field of the input, the state or the output whose name the native language does not have: another one
// would be another result.
func (c *Converter) fieldName(id ir.Ident) {
	if !c.named[id.Name] && (!idForm.MatchString(id.Name) || len(id.Name) > maxName) {
		c.named[id.Name] = true
		c.Refuse(id.Span, "rename it", "the field %q cannot have this name in the native language: names are lower-case letters, digits and _", id.Name)
	}
}

// Target is the native id of a node; the end of the workflow where there is none.
func (c *Converter) Target(id ir.Ident) string {
	if to, ok := c.IDs[id.Name]; ok {
		return to
	}
	if c.madeIDs[id.Name] {
		return id.Name
	}
	return "end"
}

// Free is a name that is not taken: the one that is wished, with as many _ as it takes.
func Free(name string, taken func(string) bool) string {
	for taken(name) {
		name += "_"
	}
	return name
}

// FreeID is an id that no node has.
func (c *Converter) FreeID(name string) string {
	return Free(name, func(name string) bool {
		for _, id := range c.IDs {
			if id == name {
				return true
			}
		}
		return false
	})
}
