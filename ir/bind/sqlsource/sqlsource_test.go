package sqlsource_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/bind/sqlsource"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

type oneFile struct{ text string }

func (f oneFile) ReadFile(string) ([]byte, error) { return []byte(f.text), nil }

// resolve compiles one tool whose schema is a folder of the files.
func resolve(t testing.TB, files map[string]string, query, keys string) (*ir.Tool, string) {
	t.Helper()
	text := "flowgen: 1\nname: demo\nsecrets: [DB]\ntools:\n  t: {sql: {db: DB, schema: db, query: " + strconv.QuoteToASCII(query) + keys + "}\nnodes:\n  a: {let: {n: 1}}\n"
	sink := &diag.Sink{}
	wf := parser.Parse(oneFile{text}, "demo.flowgen.yaml", sink)
	if wf == nil || sink.HasErrors() {
		return nil, "not parsed"
	}
	dir := t.TempDir()
	overlay := map[string][]byte{}
	for name, text := range files {
		overlay[filepath.Join(dir, "db", name)] = []byte(text)
	}
	sqlsource.Resolve(wf.Tools, sqlsource.Options{
		Files:  &foreign.Files{Overlay: overlay},
		Folder: func(*source.File) foreign.Folder { return foreign.Folder{Disk: dir, Typed: "."} },
	}, sink)
	var b strings.Builder
	for _, d := range sink.List() {
		fmt.Fprintf(&b, "%s %q: %s\n", d.Code, d.Span.Text(), d.Message)
	}
	return wf.Tools[0], b.String()
}

var shop = map[string]string{
	"1_first.sql":   "pragma foreign_keys = on; begin; create table orders (id integer primary key, customer text not null, total real not null, note varchar(20), made timestamp); commit;",
	"2_second.sql":  "-- +goose Up\ncreate table lines (orders_id int not null, sku text not null, primary key (orders_id, sku));\n-- +goose Down\ndrop table lines;",
	"3.down.sql":    "drop table orders;",
	"10_last.sql":   "create view latest as select * from orders; create trigger x after insert on orders begin update orders set note = ';'; delete from lines; end; insert into orders values (1, 'a', 1, '{x}', null);",
	"9_renamed.sql": "alter table orders rename column total to price;",
	"README.md":     "no SQL",
}

// TestTypes: what the engine does not say of a statement is found in it, or left open.
func TestTypes(t *testing.T) {
	tests := []struct{ query, keys, want string }{
		{"select * from orders", "", "reads {} -> list<{id: int, customer: string, price: float, note: opt<string>, made: opt<time>}>"},
		{"select o.id, l.sku from orders o left join lines l on l.orders_id = o.id", "", "reads {} -> list<{id: opt<int>, sku: opt<string>}>"},
		{"select id from latest", "", "reads {} -> list<{id: opt<int>}>"},
		{"select (select sku from lines) as sku, id from orders", "", "reads {} -> list<{sku: opt<string>, id: opt<int>}>"},
		{"select max(price) as top, customer from orders", "", "reads {} -> list<{top: opt<float>, customer: opt<string>}>"},
		{"select customer, count(*) as n, sum(price) as s, avg(price) as a, 'x' as x, cast(id as text) as t, id + 1 as m from orders group by customer", "",
			"reads {} -> list<{customer: string, n: int, s: opt<float>, a: opt<float>, x: string, t: opt<string>, m: any}>"},
		{"with c as (select 1 as one) select one from c", "", "reads {} -> list<{one: any}>"},
		{"select id from orders where customer in ({a}, {b}) and price between {lo} and {hi} and {n} < id limit {l} offset {o};", ", rows: one",
			"reads {a: string, b: string, lo: float, hi: float, n: int, l: int, o: int} -> opt<{id: int}>"},
		{"select id from orders where made > {since} and lower(customer) = {c}", "}, in: {since: time, c: string",
			"reads {since: time, c: string} -> list<{id: int}>"},
		{"select id from orders where customer = {c} or note = {c}", "", "reads {c: string} -> list<{id: int}>"},
		{"update orders set note = {note}, price = price * {f} where id = {id}", "}, in: {note: opt<string>, f: float, id: int", "writes {note: opt<string>, f: float, id: int} -> {affected: int}"},
		{"insert into lines values ({id}, {sku}), ({id}, 'x')", "", "writes {id: int, sku: string} -> {affected: int}"},
		{"insert into orders (note, customer) values ({note}, {customer}) on conflict (id) do update set note = {note} returning *", "",
			"writes {note: opt<string>, customer: string} -> list<{id: int, customer: string, price: float, note: opt<string>, made: opt<time>}>"},
		{"select id from orders where id = {id}", "}, in: {id: opt<int>", "reads {id: opt<int>} -> list<{id: int}>"},
		{"select id from orders where note = '{' || {n} || '}' and customer = {c} /* {d} */", "}, in: {n: string, c: 'enum<a|b>'", "reads {n: string, c: enum<a|b>} -> list<{id: int}>"},
		{"select id from orders where id = {id} and customer = {id}", "", "FG0617 \"{id}\": the type of `{id}` is unknown\n"},
		{"select id, id from orders", "", "FG0615 \"id\": two columns have the name `id`\n"},
		{"select total from orders", "", "FG0614 \"total\": db has no column `total`\n"},
		{"select o.total from orders o", "", "FG0614 \"total\": db has no column `total`\n"},
		{"select flor(price) as x from orders", "", "FG0614 \"flor\": db has no function `flor`\n"},
		{"select id from orders where note = {", "", "FG0613 \"{\": a parameter is a field in braces\n"},
		{"select 'x", "", "FG0613 \"'\": a quote is not closed\n"},
		{"select id from orders\x00; drop table orders", "", "FG0613 \"\\\\x00\": a statement has no character 0\n"},
		{"explain select id from orders", "", "FG0615 \"explain\": a tool reads and changes rows, and this statement does something else\n"},
		{"-- nothing", "", "FG0613 \"-- nothing\": the statement is empty\n"},
		{"vacuum into 'x.db'", "", "FG0615 \"vacuum\": a tool reads and changes rows, and this statement does something else\n"},
		{"pragma writable_schema = on", "", "FG0615 \"pragma\": a tool reads and changes rows, and this statement does something else\n"},
		{"begin", "", "FG0615 \"begin\": a tool reads and changes rows, and this statement does something else\n"},
	}
	for _, tt := range tests {
		tool, got := resolve(t, shop, tt.query, tt.keys+"}")
		if got == "" {
			got = tool.Effects.String() + " " + tool.In.String() + " -> " + tool.Out.String()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s\n%s", tt.query, diff)
		}
	}
}

// TestSchemas: a schema that cannot be used is reported at the file, and does nothing outside of memory.
func TestSchemas(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"attach 'x.db' as y; create table y.orders (id int)", `FG0613 "db": db cannot be read: unknown database y` + "\n"},
		{"create table a as select * from b", `FG0613 "db": db cannot be read: no such table: b` + "\n"},
		{"create table a (x text default 'y", `FG0613 "db": db cannot be read: a quote is not closed` + "\n"},
		{"create table a as select zeroblob(1000000000) as x", `FG0613 "db": db cannot be read: string or blob too big` + "\n"},
		{"", `FG0614 "orders": db has no table ` + "`orders`\n"},
	} {
		_, got := resolve(t, map[string]string{"a.sql": tt.file}, "select id from orders", "}")
		if got != tt.want {
			t.Errorf("%q: %s", tt.file, got)
		}
	}
	if _, got := resolve(t, map[string]string{"a.txt": ""}, "select 1 as n", "}"); got != `FG0612 "db": db cannot be read: the folder has no files that end in .sql`+"\n" {
		t.Error(got)
	}
}

// lockedWith compiles one tool for PostgreSQL whose database is locked with these statements and the columns that they return.
func lockedWith(t testing.TB, statements map[string]string, query string) (*ir.Tool, string) {
	t.Helper()
	text := "flowgen: 1\nname: demo\nsecrets: [DB]\ntools:\n  t: {in: {x: string}, sql: {db: DB, engine: postgres, query: " + strconv.QuoteToASCII(query) + "}}\nnodes:\n  a: {let: {n: 1}}\n"
	sink := &diag.Sink{}
	wf := parser.Parse(oneFile{text}, "demo.flowgen.yaml", sink)
	if wf == nil || sink.HasErrors() {
		t.Fatal(sink.List())
	}
	lock := &mcplock.Server{Name: "sql:DB", SQL: "postgres"}
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		def := `{"name": ` + string(quoted) + `, "inputSchema": {"type": "object"}`
		if out := statements[name]; out != "" {
			def += `, "outputSchema": ` + out
		}
		made, err := mcplock.NewTool(def + "}")
		if err != nil {
			t.Fatal(err)
		}
		lock.Tools = append(lock.Tools, made)
	}
	sqlsource.Resolve(wf.Tools, sqlsource.Options{Locked: map[*ir.Tool]*mcplock.Server{wf.Tools[0]: lock}}, sink)
	var b strings.Builder
	for _, d := range sink.List() {
		fmt.Fprintf(&b, "%s %q: %s (%s)\n", d.Code, d.Span.Text(), d.Message, d.Help)
	}
	return wf.Tools[0], b.String()
}

// TestKnownTables: what the locked statements name is known of a database, with the types of what they return.
func TestKnownTables(t *testing.T) {
	object := func(fields string) string {
		return `{"type": "object", "properties": {` + fields + `}, "additionalProperties": false}`
	}
	statements := map[string]string{
		"select id, o.total as t, count(*) as n from orders o where customer = {c} and o.note is null order by t": object(`"id": {"type": "integer"}, "t": {"type": "number"}, "n": {"type": "integer"}`),
		"insert into lines (sku, amount) values ({s}, {a})":                                                       "",
		"update shop.orders set paid_at = now() where id = {id}":                                                  "",
		"select l.sku, orders.id from lines l join orders on l.order_id = orders.id":                              object(`"sku": {"type": "string"}, "id": {"type": "integer"}`),
		"select * from \"Odd one\"": object(`"a": {"type": "string"}`),
		"not { sql":                 "",
	}
	tool, got := lockedWith(t, statements, "select total from elsewhere")
	var known []string
	for _, table := range tool.Binding.(*ir.SQLTool).Tables {
		line := table.Name + ":"
		for _, c := range table.Columns {
			line += " " + c.Name + " " + c.Type.String()
		}
		known = append(known, line)
	}
	slices.Sort(known)
	want := []string{"Odd one:", "lines: sku opt<string> amount any order_id any", "orders: total opt<float> customer any note any id opt<int> paid_at any"}
	if d := cmp.Diff(want, known); d != "" {
		t.Error(d)
	}
	if !strings.HasPrefix(got, `FG0680 "select": the statement is not locked: flowgen.lock knows others of DB`) {
		t.Error(got)
	}
	for query, want := range map[string]string{
		"select id, o.totl from orders o":                           "`totl`; replace with `total`",
		"select totl from orders":                                   "`totl`; replace with `total`",
		"select id from orders where custommer = {x}":               "`custommer`; replace with `customer`",
		"insert into lines (sku, amout) values ({x}, {x})":          "`amout`; replace with `amount`",
		"update orders set paid_ta = {x}":                           "`paid_ta`; replace with `paid_at`",
		"select l.skuu from lines l, orders o where o.id = l.order": "`skuu`; replace with `sku`",
		"select id, total as totl from orders":                      "",
		"select totl from others":                                   "",
		"select quantity from orders":                               "",
		"select id from orders where 'custommer' = {x}":             "",
		"select noote(id) as n from orders":                         "",
	} {
		_, got := lockedWith(t, statements, query)
		name, help, ok := strings.Cut(want, "; ")
		switch {
		case !ok && !strings.HasPrefix(got, `FG0680 "`+query[:6]+`": the statement is not locked: `):
			t.Errorf("%s: %s", query, got)
		case ok && (!strings.Contains(got, "know no column "+name+" ") || !strings.Contains(got, "("+help+"; if the column is new") || !strings.HasPrefix(got, "FG0680 \""+strings.Trim(name, "`")+"\": ") || strings.Count(got, "FG") != 1):
			t.Errorf("%s: %s", query, got)
		}
	}
}

// FuzzKnownTables: no locked statement crashes the compiler.
func FuzzKnownTables(f *testing.F) {
	f.Add("select id from orders o, lines as l where o.x = {x}", "select a.b from c join d")
	f.Add("insert into", "insert into t (a, b) values")
	f.Add("update x.y set a =", "delete from from from . , (")
	f.Fuzz(func(t *testing.T, locked, query string) {
		if len(locked)+len(query) < 2000 && utf8.ValidString(locked) && locked != "" && !strings.ContainsRune(query, 0) && strings.TrimSpace(query) != "" {
			lockedWith(t, map[string]string{locked: ""}, query)
		}
	})
}

// FuzzStatements: no statement and no schema crashes the compiler.
func FuzzStatements(f *testing.F) {
	f.Add("select id from orders where customer = {c}", "create table orders (id int, customer text)")
	f.Add("insert into t values ({a}, ({b}), f({c}))", "create table t (a, b, c)")
	f.Add("insert into t (a) select {a} returning", "create table t (a blob); create view v as select 1;")
	f.Add("replace into t values(", "create trigger")
	for _, text := range slices.Sorted(maps.Values(shop)) {
		f.Add("update t set (a, b) = ({a}, {b}) where x is not {x}", text)
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		if len(query)+len(text) < 4000 {
			resolve(t, map[string]string{"a.sql": text}, query, "}")
		}
	})
}
