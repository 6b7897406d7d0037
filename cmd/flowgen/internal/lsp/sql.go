package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A query is a statement of SQL that is being written, and the tables of its database.
type query struct {
	text   string
	tables []*ir.SQLTable
	in     []*schema.Field // what the tool declares that it takes
}

// aliased finds a name with the one that stands for it in a statement.
var aliased = lazyregexp.New(`(?i)\b(?:from|join|into|update|,)\s+([a-z_][a-z0-9_]*)(?:\s+(?:as\s+)?([a-z_][a-z0-9_]*))?`)

// table is the table of a name or of one that stands for it; nil when there is none.
func (q query) table(name string) *ir.SQLTable {
	for _, t := range q.tables {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	for _, m := range aliased.FindAllStringSubmatch(q.text, -1) {
		if strings.EqualFold(m[2], name) && !strings.EqualFold(m[1], name) {
			return q.table(m[1])
		}
	}
	return nil
}

// named reports whether a table is in the statement.
func (q query) named(t *ir.SQLTable) bool {
	for _, m := range aliased.FindAllStringSubmatch(q.text, -1) {
		if strings.EqualFold(m[1], t.Name) {
			return true
		}
	}
	return false
}

// queryOf is the statement of a tool. Its text is that of the file, also while nothing reads it.
func (c cursor) queryOf(tool string, text string) (q query, ok bool) {
	for _, r := range c.roots {
		if r.result == nil || r.result.Workflow == nil {
			continue
		}
		for _, t := range r.result.Workflow.Tools {
			b, sql := t.Binding.(*ir.SQLTool)
			if !sql || t.File == nil || nameOfFile(t.File.Name) != c.name || b.Tables == nil {
				continue
			}
			if exact := t.Key.Name == tool || t.Name.Name == tool; exact || q.tables == nil {
				q = query{text: text, tables: b.Tables}
				if t.In != nil {
					q.in = t.In.Fields
				}
				if exact {
					return q, true
				}
			}
		}
	}
	return q, q.tables != nil
}

// statementAround is the text of the value of the key `query` that an offset is in, as far as lines tell.
func statementAround(text string, off int) string {
	lo := max(strings.LastIndex(text[:off], "query:"), off-maxTemplate, 0)
	hi := min(len(text), off+maxTemplate)
	if i := strings.Index(text[off:hi], "\n\n"); i >= 0 {
		hi = off + i
	}
	if m := nextKey.FindStringIndex(text[off:hi]); m != nil {
		hi = off + m[0]
	}
	return strings.TrimPrefix(text[lo:hi], "query:")
}

var nextKey = lazyregexp.New(`\n *[a-z_]+:(?: |\r?\n|$)`)

// sqlNames are the tables and columns that a statement can name at the cursor, or the fields that a parameter can be; not ok where no
// statement is.
func sqlNames(c cursor, at spot) (items []completionItem, lo int, ok bool) {
	n := len(at.steps)
	if !isYAML(c.name) || !at.value || n < 3 || at.steps[n-1].Key != "query" || at.steps[n-2].Key != "sql" {
		return nil, 0, false
	}
	text := c.doc.text.s
	q, ok := c.queryOf(at.steps[n-3].Key, statementAround(text, c.off))
	if !ok {
		return nil, 0, false
	}
	lo = word(text[:c.off])
	column := func(t *ir.SQLTable, rank string) {
		for _, f := range t.Columns {
			items = append(items, completionItem{Label: f.Name, Kind: itemField, Detail: t.Name + ": " + f.Type.String(), SortText: rank + f.Name})
		}
	}
	switch before := strings.TrimRight(text[:lo], " "); {
	case strings.HasSuffix(text[:lo], "."):
		if t := q.table(text[word(text[:lo-1]) : lo-1]); t != nil {
			column(t, "0")
		}
	case strings.HasSuffix(before, "{"):
		for _, f := range q.in {
			items = append(items, completionItem{Label: f.Name, Kind: itemField, Detail: f.Type.String()})
		}
	default:
		for _, t := range q.tables {
			rank := "1"
			if ends := text[word(strings.TrimRight(text[:lo], " ")):lo]; slices.Contains([]string{"from", "join", "into", "update"}, strings.ToLower(strings.TrimSpace(ends))) {
				rank = "0"
			} else if q.named(t) {
				column(t, "0")
			}
			items = append(items, completionItem{Label: t.Name, Kind: itemType, Detail: fmt.Sprintf("%d columns", len(t.Columns)), SortText: rank + t.Name})
		}
	}
	return items, lo, true
}

// hoverSQL is what a word of a statement is: a table, or a column.
func (s *server) hoverSQL(c cursor) any {
	text := c.doc.text.s
	at := outline(text, c.off)
	n := len(at.steps)
	if !isYAML(c.name) || !at.value || n < 3 || at.steps[n-1].Key != "query" || at.steps[n-2].Key != "sql" {
		return nil
	}
	q, ok := c.queryOf(at.steps[n-3].Key, statementAround(text, c.off))
	lo, hi := word(text[:c.off]), c.off
	for hi < len(text) && word(text[:hi+1]) == lo && hi-lo < 100 {
		hi++
	}
	if !ok || lo == hi {
		return nil
	}
	name := text[lo:hi]
	var b strings.Builder
	if lo > 0 && text[lo-1] == '.' {
		if t := q.table(text[word(text[:lo-1]) : lo-1]); t != nil {
			columnOf(&b, t, name)
		}
	} else if t := q.table(name); t != nil {
		fmt.Fprintf(&b, "```flowgen\ntable %s\n```\n\n", t.Name)
		for _, f := range t.Columns {
			fmt.Fprintf(&b, "- `%s: %s`\n", f.Name, f.Type)
		}
	} else {
		for _, t := range q.tables {
			if q.named(t) {
				columnOf(&b, t, name)
			}
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return hover{Contents: markup{"markdown", b.String()}, Range: c.doc.text.span(lo, hi)}
}

// columnOf says what a column is.
func columnOf(b *strings.Builder, t *ir.SQLTable, name string) {
	for _, f := range t.Columns {
		if strings.EqualFold(f.Name, name) {
			fmt.Fprintf(b, "```flowgen\ncolumn %s.%s: %s\n```\n", t.Name, f.Name, f.Type)
		}
	}
}
