package sqlsource

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// KnownTables returns the tables of a locked database, with the columns that its locked statements name: what is known without the
// database. The type of a column is that of the results it is in, or any. A nil server has none.
func KnownTables(server *mcplock.Server) (out []*ir.SQLTable) {
	if server == nil {
		return nil
	}
	for _, locked := range server.Tools {
		s, wrong := read(locked.Name, true)
		if wrong != nil {
			continue // it was written by hand
		}
		places := s.tables()
		for _, p := range places {
			if tableOf(out, p.table) == nil {
				out = append(out, &ir.SQLTable{Name: p.table})
			}
		}
		typed := typesOf(s, locked)
		for _, u := range s.uses(places) {
			t := tableOf(out, u.table)
			if t == nil {
				continue
			}
			typ := typed[u.at.lo]
			i := slices.IndexFunc(t.Columns, func(f *schema.Field) bool { return strings.EqualFold(f.Name, u.at.text) })
			switch {
			case i < 0 && typ == nil:
				t.Columns = append(t.Columns, &schema.Field{Name: u.at.text, Type: schema.AnyType})
			case i < 0:
				t.Columns = append(t.Columns, &schema.Field{Name: u.at.text, Type: typ})
			case typ != nil && t.Columns[i].Type == schema.AnyType:
				t.Columns[i].Type = typ
			}
		}
	}
	return out
}

// tablesOf returns the known tables of a database.
func (r *resolver) tablesOf(server *mcplock.Server) []*ir.SQLTable {
	known, ok := r.known[server]
	if !ok {
		if r.known == nil {
			r.known = map[*mcplock.Server][]*ir.SQLTable{}
		}
		known = KnownTables(server)
		r.known[server] = known
	}
	return known
}

func tableOf(tables []*ir.SQLTable, name string) *ir.SQLTable {
	for _, t := range tables {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}

// typesOf are the types of the columns that a statement returns as they are, by where they stand.
func typesOf(s *statement, locked *mcplock.Tool) map[int]*schema.Type {
	_, row := locked.Types()
	if row == nil {
		return nil
	}
	out := map[int]*schema.Type{}
	for i, item := range s.items(len(row.Fields)) {
		if c := plainColumn(item); c != nil {
			out[c.lo] = row.Fields[i].Type
		}
	}
	return out
}

// plainColumn is the column that an item of a result is: `c`, `t.c`, with `as x` or without.
func plainColumn(item []token) *token {
	item = unnamed(item)
	if n := len(item); (n == 1 || n == 3 && item[1].is(".")) && item[n-1].kind == word && !reserved(item[n-1]) {
		return &item[n-1]
	}
	return nil
}

// A place is a table in a statement, and what stands for it there.
type place struct{ table, alias string }

// tables are those that a statement names behind FROM, JOIN, INTO and UPDATE.
func (s *statement) tables() (out []place) {
	for i := 0; i < len(s.tokens); i++ {
		if t := s.tokens[i]; !t.is("from") && !t.is("join") && !t.is("into") && !t.is("update") {
			continue
		}
		for i++; i < len(s.tokens) && s.tokens[i].kind == word && !reserved(s.tokens[i]); i++ {
			if s.next(i, ".") && i+2 < len(s.tokens) { // of a schema
				i += 2
			}
			if s.next(i, "(") && !s.before(i, "into") { // a function
				break
			}
			p := place{table: s.tokens[i].text}
			if s.next(i, "as") {
				i++
			}
			if i+1 < len(s.tokens) && s.tokens[i+1].kind == word && !reserved(s.tokens[i+1]) {
				i++
				p.alias = s.tokens[i].text
			}
			out = append(out, p)
			if !s.next(i, ",") {
				break
			}
			i++
		}
		i--
	}
	return out
}

func (s *statement) next(i int, is string) bool {
	return i+1 < len(s.tokens) && s.tokens[i+1].is(is)
}

func (s *statement) before(i int, is string) bool { return i > 0 && s.tokens[i-1].is(is) }

// A use is a column of a table in a statement.
type use struct {
	table string // empty: of one of several
	at    *token
}

// uses are the columns of tables that a statement names where nothing but a column can stand: behind the name of a table, before a
// comparison, as an item of the result, and in the list of INSERT. It may miss some.
func (s *statement) uses(places []place) (out []use) {
	only := ""
	if len(places) == 1 && s.selects() <= 1 {
		only = places[0].table
	}
	seen := map[int]bool{}
	add := func(table string, at *token) {
		if at != nil && !seen[at.lo] && !reserved(*at) {
			seen[at.lo] = true
			out = append(out, use{table, at})
		}
	}
	for i := range s.tokens {
		t := &s.tokens[i]
		switch {
		case t.kind != word || s.next(i, "(") || s.next(i, "."):
		case s.before(i, ".") && i > 1:
			for _, p := range places {
				if q := s.tokens[i-2].text; strings.EqualFold(q, p.alias) || p.alias == "" && strings.EqualFold(q, p.table) {
					add(p.table, t)
				}
			}
		case i+1 < len(s.tokens) && compares(s.tokens[i+1]) && !slices.ContainsFunc(places, func(p place) bool { return strings.EqualFold(p.table, t.text) }):
			add(only, t)
		}
	}
	for _, item := range s.results() {
		if len(unnamed(item)) == 1 {
			add(only, plainColumn(item))
		}
	}
	for _, at := range s.inserted() {
		add(places[0].table, at)
	}
	return out
}

// compares reports whether a token stands behind a column: an operator, or a word that is one.
func compares(t token) bool {
	return slices.ContainsFunc([]string{"=", "<", ">", "!", "is", "in", "like", "ilike", "between"}, t.is)
}

// inserted are the columns behind INSERT INTO t.
func (s *statement) inserted() (out []*token) {
	if !s.tokens[0].is("insert") {
		return nil
	}
	i := slices.IndexFunc(s.tokens, func(t token) bool { return t.is("(") || t.is("values") || t.is("select") })
	if i < 0 || !s.tokens[i].is("(") || len(s.tables()) == 0 {
		return nil
	}
	for i++; i < len(s.tokens) && s.tokens[i].kind == word; i += 2 {
		out = append(out, &s.tokens[i])
		if !s.next(i, ",") {
			break
		}
	}
	return out
}

// words are those of SQL that stand where the name of a table, what stands for it, or a column could.
var words = strings.Fields("all and any as asc between by case cast conflict cross current_date current_time current_timestamp default delete desc distinct do else end except exists false fetch for from " +
	"full group having ilike in inner insert intersect into is join last lateral left like limit localtime natural not null nulls offset on only or order outer returning right select set table then " +
	"true union update using values when where window with")

func reserved(t token) bool { return !t.quoted && slices.Contains(words, strings.ToLower(t.text)) }

// misspelt reports a column of a statement that is not locked, when the locked ones know another of its table with nearly this name.
func (r *resolver) misspelt(b *ir.SQLTool, s *statement, known []*ir.SQLTable) bool {
	places := s.tables()
	for _, u := range s.uses(places) {
		var near []string
		for _, p := range places {
			if t := tableOf(known, p.table); t != nil && (u.table == "" || strings.EqualFold(u.table, p.table)) {
				for _, c := range t.Columns {
					near = append(near, c.Name)
				}
			}
		}
		if slices.ContainsFunc(near, func(c string) bool { return strings.EqualFold(c, u.at.text) }) || diag.Nearest(u.at.text, near) == "" {
			continue
		}
		d := diag.Diagnostic{Code: diag.NotLocked, Span: b.Query.At(u.at.lo, u.at.hi)}
		d.Message = "the statement is not locked, and those that are know no column " + quote(diag.Printable(u.at.text))
		diag.Suggest(&d, u.at.text, near)
		d.Help += "; if the column is new, run `flowgen lock`"
		r.sink.Report(d)
		return true
	}
	return false
}
