package sqlsource_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
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
		{"select id from orders where id = {id} and customer = {id}", "", "FG0617 \"{id}\": nothing says what type `{id}` has\n"},
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
