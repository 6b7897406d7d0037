package sqlsource

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A tables is the database that a schema makes.
type tables struct {
	*database
	columns []*column
	views   []string
}

// A column is one of a table or a view.
type column struct {
	table, name string
	typ         *schema.Type
	present     bool // it cannot be null
}

// A broken schema says where it cannot be used; at may be zero.
type broken struct {
	why string
	at  source.Span
}

func (b *broken) Error() string { return b.why }

// maxFiles is how many files a folder of migrations may have.
const maxFiles = 2000

// open reads a file, or the files of a folder in the order of their numbers and names, and runs what makes, alters and drops tables.
func open(files *foreign.Files, home foreign.Folder, name string) (*tables, error) {
	rel := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	list := []string{rel}
	if files.IsDir(home, rel) && !files.IsFile(home, rel) {
		list = nil
		for _, e := range files.Entries(home.Join(rel)) {
			if !e.Folder && strings.HasSuffix(e.Name, ".sql") && !strings.HasSuffix(e.Name, ".down.sql") {
				list = append(list, path.Join(rel, e.Name))
			}
		}
		switch {
		case len(list) == 0:
			return nil, errors.New("the folder has no files that end in .sql")
		case len(list) > maxFiles:
			return nil, errors.New("the folder has more than " + strconv.Itoa(maxFiles) + " files")
		}
		slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(leading(a), leading(b)), strings.Compare(a, b)) })
	}
	db, err := openMemory()
	if err != nil {
		return nil, err
	}
	t := &tables{database: db}
	for _, rel := range list {
		f, err := files.Read(home, rel)
		if err == nil {
			err = t.make(f.Source)
		}
		if err != nil {
			t.close()
			return nil, err
		}
	}
	if err := t.look(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// leading is the number that a file's name begins with.
func leading(name string) uint64 {
	base := path.Base(name)
	n, _ := strconv.ParseUint(base[:len(base)-len(strings.TrimLeft(base, "0123456789"))], 10, 64)
	return n
}

// downs are the lines after which a migration is taken back, in the words of the tools that run them.
var downs = []string{"-- +goose Down", "-- migrate:down", "-- +migrate Down"}

// make runs the statements of a file that are about tables. What fills tables is left out.
func (t *tables) make(f *source.File) error {
	text := strings.TrimPrefix(f.Text, "\ufeff")
	skipped := len(f.Text) - len(text)
	for _, down := range downs {
		if i := strings.Index(text, down); i >= 0 {
			text = text[:i]
		}
	}
	at := func(lo, hi int) source.Span {
		return source.Span{File: f, Lo: min(skipped+lo, len(f.Text)), Hi: min(skipped+hi, len(f.Text))}
	}
	tokens, wrong := scan(schemaText(text), false)
	if wrong != nil {
		return &broken{wrong.what, at(wrong.lo, wrong.hi)}
	}
	t.allow(schemaMode)
	for i := 0; i < len(tokens); {
		first := tokens[i]
		if !first.is("create") && !first.is("alter") && !first.is("drop") {
			for i < len(tokens) && !tokens[i].is(";") {
				i++
			}
			i++
			continue
		}
		end, err := t.run(text[first.lo:])
		var e *engineError
		if errors.As(err, &e) {
			lo := first.lo + max(e.off, 0)
			return &broken{e.message, at(lo, lo+1)}
		}
		if err != nil {
			return err
		}
		for i < len(tokens) && tokens[i].lo < first.lo+end {
			i++
		}
	}
	return nil
}

// schemaText is a text in which braces are not parameters.
func schemaText(s string) string { return strings.NewReplacer("{", "(", "}", ")").Replace(s) }

// look reads what there is now.
func (t *tables) look() error {
	t.anything()
	rows, err := t.rows("SELECT m.name, m.type, c.name, c.type, c.\"notnull\", c.pk, (SELECT COUNT(*) FROM pragma_table_info(m.name) WHERE pk > 0), m.sql LIKE '%WITHOUT%ROWID%' " +
		"FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c WHERE m.type IN ('table', 'view') AND c.hidden <> 1 ORDER BY m.name, c.cid")
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r[1] == "view" && !slices.Contains(t.views, r[0]) {
			t.views = append(t.views, r[0])
		}
		key := r[5] != "0" && r[6] == "1" && strings.EqualFold(r[3], "integer") || r[5] != "0" && r[7] == "1"
		t.columns = append(t.columns, &column{table: r[0], name: r[2], typ: declared(r[3]), present: r[4] != "0" || key})
	}
	t.allow(queryMode)
	return nil
}

// declared is the type of what a column holds that is declared so, by the rules of SQLite.
func declared(decl string) *schema.Type {
	decl = strings.ToUpper(strings.TrimSpace(decl))
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(decl, p) })
	}
	base, _, _ := strings.Cut(decl, "(")
	switch base = strings.TrimSpace(base); {
	case base == "BOOLEAN" || base == "BOOL":
		return schema.BoolType
	case base == "DATETIME" || base == "TIMESTAMP":
		return schema.TimeType
	case base == "DATE":
		return schema.StringType
	case has("INT"):
		return schema.IntType
	case has("CHAR", "CLOB", "TEXT") || base == "UUID" || base == "JSON" || base == "STRING":
		return schema.StringType
	case has("BLOB"):
		return schema.BytesType
	case has("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL"):
		return schema.FloatType
	}
	return nil
}

// tableNames are the names of tables and views.
func (t *tables) tableNames() (out []string) {
	for _, c := range t.columns {
		if !slices.Contains(out, c.table) {
			out = append(out, c.table)
		}
	}
	return out
}

// shown are the tables and views with their columns, for people.
func (t *tables) shown() (out []*ir.SQLTable) {
	for _, name := range t.tableNames() {
		table := &ir.SQLTable{Name: name}
		for _, c := range t.columns {
			if c.table != name {
				continue
			}
			typ := c.typ
			if typ == nil {
				typ = schema.AnyType
			}
			if !c.present {
				typ = schema.OptOf(typ, "the column can be null")
			}
			table.Columns = append(table.Columns, &schema.Field{Name: c.name, Type: typ})
		}
		out = append(out, table)
	}
	return out
}

// of are the columns of the tables that a statement names.
func (t *tables) of(s *statement) (out []*column) {
	for _, c := range t.columns {
		if s.named(c.table) != nil {
			out = append(out, c)
		}
	}
	return out
}

// column is the one of a name in the tables of a statement; nil when there is none, or several of different types.
func (t *tables) column(s *statement, name string) *column {
	var found *column
	for _, c := range t.of(s) {
		if !strings.EqualFold(c.name, name) {
			continue
		}
		if found != nil && found.typ != c.typ {
			return nil
		}
		if found == nil || !c.present {
			found = c
		}
	}
	return found
}
