package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/sqltool"
	"github.com/flowgen-dev/flowgen/runtime/sqltool/sqlite"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

// word is an enum, as generated code has it.
type word string

type things struct {
	Text *string
	Word word
	N    int64
	F    *float64
	B    bool
	At   time.Time
}

// start makes a database and a run whose secret is its address.
func start(ctx context.Context, t *testing.T, schema string) *flow.Run {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a b.db")
	db, err := sql.Open("sqlite", name)
	if err == nil {
		_, err = db.Exec(schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	address := "sqlite://" + strings.ReplaceAll(filepath.ToSlash(name), " ", "%20")
	rt, err := flow.New(&flow.Info{Name: "test"}, runtime.WithSecrets(func(string) (string, bool) { return address, true }))
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(ctx)
}

const table = `create table t (text text, word text, n integer, f real, b bool, at datetime); create table u (x blob); insert into u values (x''), (x'00');`

func write() *flow.Tool[things, value.Value] {
	return sqlite.Bind[things, value.Value]("t.w@1", flow.Writes, sqltool.Statement{
		Database: "DB", Text: "insert into t values (?1, ?2, ?3, ?4, ?5, ?6) returning text, word, n, f, b, at", Rows: sqltool.One,
	}, func(in things) sqltool.Args { return sqltool.Args{in.Text, in.Word, in.N, in.F, in.B, in.At} })
}

// Values come back as they were bound, whatever they hold.
func TestValues(t *testing.T) {
	run := start(t.Context(), t, table)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("x", 3600))
	for _, text := range []string{"", "'; drop table t; --", `"`, "?1", "ü\n\x00z", "%_", strings.Repeat("x", 100_000)} {
		got, err := flow.Call(run, node, write(), things{Text: &text, Word: "a'b", N: -1 << 62, F: flow.Ptr(1e300), B: true, At: at})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(map[string]any{"text": text, "word": "a'b", "n": int64(-1 << 62), "f": 1e300, "b": true, "at": "2026-01-02T02:04:05.006Z"})
		if have, _ := json.Marshal(got); !equal(t, have, want) {
			t.Errorf("%.100q: %.300s", text, have)
		}
	}
	got, err := flow.Call(run, node, write(), things{})
	if have, _ := json.Marshal(got); err != nil || !equal(t, have, []byte(`{"text":null,"word":"","n":0,"f":null,"b":false,"at":"0001-01-01T00:00:00Z"}`)) {
		t.Errorf("%s, %v", have, err)
	}
}

func equal(t *testing.T, a, b []byte) bool {
	t.Helper()
	x, err := value.Parse(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := value.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return x.Equal(y)
}

func query(e flow.Effects, s sqltool.Statement) *flow.Tool[struct{}, value.Value] {
	s.Database = "DB"
	return sqlite.Bind[struct{}, value.Value]("t.q@1", e, s, nil)
}

// What cannot be returned is an error with the code of its kind, and a statement that only reads changes nothing.
func TestErrors(t *testing.T) {
	run := start(t.Context(), t, table)
	for _, tt := range []struct {
		e    flow.Effects
		s    sqltool.Statement
		want string
	}{
		{flow.Reads, sqltool.Statement{Text: "select x from u"}, "VALIDATION_ERROR: column x of row 1: it is binary (0 bytes): return it as text"},
		{flow.Reads, sqltool.Statement{Text: "select 9e999 as x"}, "VALIDATION_ERROR: column x of row 1: +Inf is not a JSON number"},
		{flow.Reads, sqltool.Statement{Text: "delete from u", Rows: sqltool.None}, "POLICY_DENIED: "},
		{flow.Reads, sqltool.Statement{Text: "select nothing"}, "PROVIDER_ERROR: "},
		{flow.Reads, sqltool.Statement{Text: "with recursive c(n) as (select 1 union all select n + 1 from c) select n from c"}, "POLICY_DENIED: the statement returns more than 1000 rows"},
		{flow.Reads, sqltool.Statement{Text: "with recursive c(n) as (select 1 union all select n + 1 from c) select n, printf('%.9000c', 'x') as x from c", MaxRows: 1 << 30}, "POLICY_DENIED: the rows have more than 2097152 bytes"},
		{flow.Writes, sqltool.Statement{Text: "insert into missing values (1)", Rows: sqltool.None}, "PROVIDER_ERROR: "},
	} {
		_, err := flow.Call(run, node, query(tt.e, tt.s), struct{}{})
		te := value.ToolErrorOf(err)
		if te == nil || !strings.HasPrefix(te.Error(), tt.want) {
			t.Errorf("%s: %v", tt.s.Text, err)
		}
	}
	got, err := flow.Call(run, node, query(flow.Reads, sqltool.Statement{Text: "select count(*) as n from u", Rows: sqltool.One}), struct{}{})
	if have, _ := json.Marshal(got); err != nil || string(have) != `{"n":2}` {
		t.Errorf("after a delete that is refused: %s, %v", have, err)
	}
}

// A call that is cancelled ends, and is not an error of the tool.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	run := start(ctx, t, table)
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := flow.Call(run, node, query(flow.Reads, sqltool.Statement{Text: "with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) as n from c"}), struct{}{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
