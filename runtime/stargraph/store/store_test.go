package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/stargraph/store"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// keep makes a store of documents, as the engine keeps them.
func keep(t *testing.T, docs map[string]string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kb.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("CREATE TABLE documents (doc_id TEXT PRIMARY KEY, content BLOB NOT NULL, is_text INTEGER NOT NULL, metadata BLOB NOT NULL, created_at TEXT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	for id, text := range docs {
		if _, err := db.Exec("INSERT INTO documents VALUES (?, ?, ?, ?, '')", id, []byte(text), text != "\x00", []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

func TestSearch(t *testing.T) {
	animals := keep(t, map[string]string{"cat": "The Cat sat. A cat, a mat.", "dog": "dogs; one cat", "none": "nothing", "bytes": "\x00"})
	more := keep(t, map[string]string{"dog": "another text with a cat on a mat", "street": "the STRASSE of the cat"})
	for _, c := range []struct {
		name, question string
		paths          []string
		k              int64
		want           [][]string
	}{
		{"words count once each", "cat mat", []string{animals}, 5, [][]string{{"cat", "The Cat sat. A cat, a mat."}, {"dog", "dogs; one cat"}}},
		{"no more than k", "cat mat", []string{animals}, 1, [][]string{{"cat", "The Cat sat. A cat, a mat."}}},
		{"two stores", "CAT", []string{animals, more}, 5, [][]string{{"dog", "dogs; one cat"}, {"cat", "The Cat sat. A cat, a mat."}, {"street", "the STRASSE of the cat"}}},
		{"folded", "straße", []string{more}, 5, [][]string{{"street", "the STRASSE of the cat"}}},
		{"nothing found", "bird", []string{animals, more}, 5, [][]string{}},
		{"no file", "cat", []string{filepath.Join(t.TempDir(), "absent.db")}, 5, [][]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := store.Search(t.Context(), c.question, c.paths, c.k, 256)
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func TestSearchBounds(t *testing.T) {
	long := keep(t, map[string]string{"a": "cat " + strings.Repeat("ä", 2000)})
	got, err := store.Search(t.Context(), "cat", []string{long}, 1, 256)
	if err != nil || len(got) != 1 || len([]rune(got[0][1])) != 1500 {
		t.Errorf("%v %d", err, len(got))
	}
	if got, err := store.Search(t.Context(), "cat", []string{long}, 1, 0); err != nil || len(got) != 0 {
		t.Errorf("nothing is looked at: %v %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "kb.db")
	if err := os.WriteFile(file, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Search(t.Context(), "cat", []string{file}, 1, 256); err == nil || !strings.Contains(err.Error(), "PROVIDER_ERROR") {
		t.Errorf("no database: %v", err)
	}
}

func TestQuery(t *testing.T) {
	file := keep(t, map[string]string{"a": "one", "b": "two", "c": "three"})
	t.Setenv("STARGRAPH_TOOLS_FS_ROOT", filepath.Dir(file))
	say := func(v value.Value, err error) string {
		if err != nil {
			return err.Error()
		}
		data, err := v.MarshalJSON()
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	const all = "SELECT doc_id, length(content) AS n, NULL AS none, 1.5 AS half FROM documents WHERE doc_id <> ? ORDER BY doc_id"
	params := []value.Value{value.String("b")}
	for _, c := range []struct{ name, got, want string }{
		{"rows", say(store.Query(t.Context(), "kb.db", all, params, "sqlite", 10)),
			`{"columns":["doc_id","n","none","half"],"rows":[{"doc_id":"a","n":3,"none":null,"half":1.5},{"doc_id":"c","n":5,"none":null,"half":1.5}],"row_count":2,"truncated":false}`},
		{"the first", say(store.Query(t.Context(), file, all, params, "sqlite", 1)),
			`{"columns":["doc_id","n","none","half"],"rows":[{"doc_id":"a","n":3,"none":null,"half":1.5}],"row_count":1,"truncated":true}`},
		{"another engine", say(store.Query(t.Context(), "kb.db", all, params, "duckdb", 1)), `POLICY_DENIED: the engine "duckdb" is not asked: only sqlite is`},
		{"a parameter", say(store.Query(t.Context(), "kb.db", all, []value.Value{value.List()}, "sqlite", 1)), "VALIDATION_ERROR: parameter 1 of the query is not a scalar"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, not %s", c.name, c.got, c.want)
		}
	}
	for _, c := range []struct{ database, query, want string }{
		{"kb.db", "DELETE FROM documents", "VALIDATION_ERROR"}, {"kb.db", "SELEC 1", "VALIDATION_ERROR"}, {"absent.db", "SELECT 1", "PROVIDER_ERROR"}, {"/etc/hosts", "SELECT 1", "POLICY_DENIED"}, {"..", "SELECT 1", "POLICY_DENIED"}, {".", "SELECT 1", "VALIDATION_ERROR"},
	} {
		if got := say(store.Query(t.Context(), c.database, c.query, nil, "sqlite", 1)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, %s: %s", c.database, c.query, got)
		}
	}
}
