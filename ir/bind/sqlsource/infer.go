package sqlsource

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// The engine knows the types of columns, and neither those of expressions nor those of parameters. These are found where a reader finds
// them: `count(*)`, `cast(x as integer)`, `customer = {customer}`.

// result is the type of a column that a statement returns; nil: it is not known.
func (t *tables) result(s *statement, r returned, item []token, strict bool) *schema.Type {
	if r.origin != "" {
		typ, present := declared(r.declared), false
		for _, c := range t.columns {
			if strings.EqualFold(c.table, r.table) && strings.EqualFold(c.name, r.origin) {
				typ, present = c.typ, c.present
			}
		}
		if typ != nil && (!present || !strict) {
			return schema.OptOf(typ, "the column "+r.origin+" can be null here")
		}
		return typ
	}
	if r.declared != "" {
		if typ := declared(r.declared); typ != nil {
			return schema.OptOf(typ, "the column can be null here")
		}
	}
	typ, present := t.expression(s, unnamed(item))
	if typ != nil && !present {
		return schema.OptOf(typ, "the expression can be null")
	}
	return typ
}

// unnamed is an expression without its `as name`.
func unnamed(item []token) []token {
	if n := len(item); n > 2 && item[n-2].is("as") {
		return item[:n-2]
	}
	return item
}

// expression is the type of an expression, nil when it is not known, and whether it cannot be null.
func (t *tables) expression(s *statement, item []token) (typ *schema.Type, present bool) {
	n := len(item)
	switch {
	case n == 0:
		return nil, false
	case n == 1 && item[0].kind == text:
		return schema.StringType, true
	case n == 1 && item[0].kind == number:
		if strings.ContainsAny(item[0].text, ".eE") {
			return schema.FloatType, true
		}
		return schema.IntType, true
	case item[n-1].kind == word && (n == 1 || n == 3 && item[1].is(".")):
		if c := t.column(s, item[n-1].text); c != nil {
			return loose(c.typ), c.present && s.has("returning") // elsewhere the engine would have known its origin
		}
	case n > 3 && item[1].is("(") && closes(item, 1) == n-1:
		return t.call(s, strings.ToLower(item[0].text), item[2:n-1])
	}
	return nil, false
}

// loose is the type of a column's values in an expression, which SQLite does not keep apart from texts and numbers.
func loose(t *schema.Type) *schema.Type {
	switch t {
	case schema.TimeType:
		return schema.StringType
	case schema.BoolType:
		return schema.IntType
	}
	return t
}

// call is the type of a call of a function.
func (t *tables) call(s *statement, name string, args []token) (typ *schema.Type, present bool) {
	switch name {
	case "count":
		return schema.IntType, true
	case "total":
		return schema.FloatType, true
	case "avg":
		return schema.FloatType, false
	case "length", "instr", "changes", "last_insert_rowid", "unixepoch":
		return schema.IntType, false
	case "lower", "upper", "trim", "substr", "replace", "group_concat", "string_agg", "printf", "format", "hex", "date", "time", "datetime", "strftime":
		return schema.StringType, false
	case "sum", "min", "max", "abs":
		typ, _ = t.expression(s, args)
		return typ, false
	case "coalesce", "ifnull":
		return t.coalesce(s, args)
	case "cast":
		for i := len(args) - 2; i > 0; i-- {
			if args[i].is("as") {
				var words []string
				for _, a := range args[i+1:] {
					words = append(words, a.text)
				}
				switch typ = declared(strings.Join(words, " ")); typ {
				case schema.IntType, schema.FloatType, schema.StringType:
					_, present = t.expression(s, args[:i])
					return typ, present
				}
				return nil, false
			}
		}
	}
	return nil, false
}

// coalesce is the type of the first of several expressions, which the last keeps from being null.
func (t *tables) coalesce(s *statement, args []token) (typ *schema.Type, present bool) {
	depth, from := 0, 0
	for i, a := range args {
		switch {
		case a.is("("):
			depth++
		case a.is(")"):
			depth--
		case depth == 0 && a.is(","):
			one, _ := t.expression(s, args[from:i])
			if typ == nil {
				typ = one
			}
			from = i + 1
		}
	}
	last, present := t.expression(s, args[from:])
	switch {
	case typ == schema.IntType && last == schema.FloatType:
		typ = last
	case typ != nil && last != nil && typ != last && (typ != schema.FloatType || last != schema.IntType):
		return nil, false
	}
	return typ, present
}

// closes is where the parenthesis at i is closed.
func closes(item []token, i int) int {
	depth := 0
	for ; i < len(item); i++ {
		switch {
		case item[i].is("("):
			depth++
		case item[i].is(")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// aggregates make one row of none, in which other columns are null.
var aggregates = []string{"count", "sum", "total", "avg", "min", "max", "group_concat", "string_agg"}

// strict reports whether what a table does not let be null is not null in the result: there is no outer join, no query inside, no view,
// and no aggregate without groups.
func (t *tables) strict(s *statement) bool {
	if s.has("left", "right", "full") || s.selects() > 1 {
		return false
	}
	for i, x := range s.tokens[:len(s.tokens)-1] {
		called := s.tokens[i+1].is("(") && (slices.ContainsFunc(aggregates, x.is) || strings.HasPrefix(strings.ToLower(x.text), "json_group_"))
		if called && !s.has("group") {
			return false
		}
	}
	return !slices.ContainsFunc(t.views, func(v string) bool { return s.named(v) != nil })
}

var comparisons = []string{"=", "<", ">", "!", "like", "is", "glob"}

// parameter is the type of a field, from the places where it is bound; nil when they do not say it.
func (t *tables) parameter(s *statement, field string) *schema.Type {
	var typ *schema.Type
	for i, x := range s.tokens {
		if x.kind != param || x.text != field {
			continue
		}
		one := t.bound(s, i)
		if one == nil || typ != nil && typ.Present() != one.Present() {
			return nil
		}
		if typ == nil || typ.Kind == schema.Opt { // null has to be right in all places
			typ = one
		}
	}
	return typ
}

// bound is the type of the parameter that is token i.
func (t *tables) bound(s *statement, i int) *schema.Type {
	prev := func(n int) token {
		if i-n >= 0 {
			return s.tokens[i-n]
		}
		return token{kind: mark}
	}
	if prev(1).is("limit") || prev(1).is("offset") {
		return schema.IntType
	}
	if c := t.inserted(s, i); c != nil {
		return stored(c)
	}
	back := i - 1
	if prev(1).is("(") || prev(1).is(",") { // one of a list: in ({a}, {b})
		for back > 0 && !s.tokens[back].is("(") {
			if x := s.tokens[back]; x.kind != param && !x.is(",") {
				return nil
			}
			back--
		}
		if back < 2 || !s.tokens[back-1].is("in") {
			return nil
		}
		back -= 2
		if s.tokens[back].is("not") {
			back--
		}
		return t.at(s, back)
	}
	if prev(1).is("and") && prev(2).kind == param && prev(3).is("between") {
		return t.at(s, i-4)
	}
	if prev(1).is("between") {
		return t.at(s, i-2)
	}
	compared := false
	for back >= 0 && slices.ContainsFunc(comparisons, s.tokens[back].is) {
		back, compared = back-1, true
	}
	if compared {
		if back >= 0 && s.tokens[back].is("not") {
			back--
		}
		if c := t.named(s, back); c != nil {
			if assigned(s, back) {
				return stored(c)
			}
			return c.typ
		}
		return nil
	}
	next := i + 1
	for next < len(s.tokens) && slices.ContainsFunc(comparisons, s.tokens[next].is) {
		next, compared = next+1, true
	}
	if compared && next < len(s.tokens) {
		for next+2 < len(s.tokens) && s.tokens[next+1].is(".") {
			next += 2
		}
		return t.at(s, next)
	}
	return nil
}

// stored is the type of what is written into a column.
func stored(c *column) *schema.Type {
	if c.typ != nil && !c.present {
		return schema.OptOf(c.typ, "the column "+c.name+" can be null")
	}
	return c.typ
}

// named is the column that token i names.
func (t *tables) named(s *statement, i int) *column {
	if i < 0 || s.tokens[i].kind != word {
		return nil
	}
	return t.column(s, s.tokens[i].text)
}

func (t *tables) at(s *statement, i int) *schema.Type {
	if c := t.named(s, i); c != nil {
		return c.typ
	}
	return nil
}

// assigned reports whether the column at i is one that `set` writes.
func assigned(s *statement, i int) bool {
	for ; i >= 0; i-- {
		switch x := s.tokens[i]; {
		case x.is("set"):
			return true
		case x.is("where"), x.is("select"), x.is("from"), x.is("on"), x.is("values"):
			return false
		}
	}
	return false
}

// inserted is the column that the parameter at i fills in `insert into t (a, b) values ({x}, {y})`.
func (t *tables) inserted(s *statement, i int) *column {
	row := i - 1
	depth, place := 0, 0
	for ; row >= 0; row-- {
		x := s.tokens[row]
		if x.is(")") {
			depth++
		}
		if x.is("(") {
			if depth == 0 {
				break
			}
			depth--
		}
		if depth == 0 && x.is(",") {
			place++
		}
	}
	values := row
	for values > 0 && !s.tokens[values].is("values") { // rows before this one
		if x := s.tokens[values]; x.is("select") || x.is("where") || x.is("set") {
			return nil
		}
		values--
	}
	if values <= 0 || values < 2 || i > 0 && !s.tokens[i-1].is("(") && !s.tokens[i-1].is(",") {
		return nil
	}
	if values != row-1 && !s.tokens[row-1].is(",") {
		return nil // inside of a call
	}
	into := slices.IndexFunc(s.tokens, func(x token) bool { return x.is("into") })
	if into < 0 || into+1 >= values {
		return nil
	}
	table := s.tokens[into+1].text
	if s.tokens[into+2].is("(") { // the columns are named
		list := s.tokens[into+3 : closes(s.tokens, into+2)]
		if 2*place >= len(list) {
			return nil
		}
		return t.in(table, list[2*place].text)
	}
	var all []*column
	for _, c := range t.columns {
		if strings.EqualFold(c.table, table) {
			all = append(all, c)
		}
	}
	if place >= len(all) {
		return nil
	}
	return all[place]
}

// in is the column of a table.
func (t *tables) in(table, name string) *column {
	for _, c := range t.columns {
		if strings.EqualFold(c.table, table) && strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}
