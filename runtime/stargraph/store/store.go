// Package store reads the databases of Stargraph's files: stores of documents, and what std.sql_query asks. It is the only
// importer of the database among the packages of Stargraph, and it writes nothing.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	_ "modernc.org/sqlite" // the driver

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// snippet is how many characters of a document a model receives.
const snippet = 1500

// rank is how much the first places of a list weigh next to later ones when lists are joined.
const rank = 60

// open opens a file of the working directory, or an absolute name, to be read alone.
func open(path string) (*sql.DB, error) {
	file, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}).String())
}

// A hit is a document that has words of the question.
type hit struct {
	id, text string
	score    float64
}

// Search looks for the documents of stores that have most words of a question: at most k, each of them its id and the beginning
// of its text, the best first. Of each store the first documents are looked at, as many as scan says. A file that is not there is
// a store without documents. What is not a store is a PROVIDER_ERROR.
func Search(ctx context.Context, question string, paths []string, k, scan int64) ([][]string, error) {
	words := map[string]bool{}
	for _, w := range wordsOf(question) {
		words[w] = true
	}
	var parts = map[string][]float64{}
	texts := map[string]string{}
	for _, path := range paths {
		docs, err := documents(ctx, path, scan)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, value.Errorf(value.ProviderError, "the store %s cannot be read: %v", path, err)
		}
		for _, d := range docs {
			if texts[d.id] == "" {
				texts[d.id] = d.text
			}
		}
		for i, h := range best(docs, words, int(k)) {
			parts[h.id] = append(parts[h.id], 1/float64(rank+i+1))
		}
	}
	var all []hit
	for id, list := range parts {
		slices.Sort(list) // so that a sum does not depend on the order of the stores
		h := hit{id: id, text: texts[id]}
		for _, v := range list {
			h.score += v
		}
		all = append(all, h)
	}
	slices.SortFunc(all, before)
	out := make([][]string, 0, min(len(all), int(k)))
	for _, h := range all[:min(len(all), int(k))] {
		out = append(out, []string{h.id, begin(h.text)})
	}
	return out, nil
}

func before(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) }

// best are the documents with words of the question, the one with most different ones first.
func best(docs []hit, words map[string]bool, k int) []hit {
	var out []hit
	for _, d := range docs {
		count := map[string]int{}
		for _, w := range wordsOf(d.text) {
			if words[w] {
				count[w]++
			}
		}
		var parts []float64
		for _, n := range count {
			parts = append(parts, float64(n)/float64(n+1))
		}
		slices.Sort(parts)
		for _, v := range parts {
			d.score += v
		}
		if d.score = math.Round(d.score*1e12) / 1e12; d.score > 0 {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, before)
	return out[:min(len(out), k)]
}

var word = regexp.MustCompile(`[\p{L}\p{N}\p{M}_]+`)

func wordsOf(text string) []string { return word.FindAllString(cases.Fold().String(text), -1) }

func begin(text string) string {
	if utf8.RuneCountInString(text) > snippet {
		text = string([]rune(text)[:snippet])
	}
	return strings.TrimRight(text, " \t\r\n")
}

// documents are the texts of a store.
func documents(ctx context.Context, path string, scan int64) ([]hit, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(ctx, "SELECT doc_id, content, is_text FROM documents LIMIT ?", scan)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []hit
	for rows.Next() {
		var h hit
		var content []byte
		var isText bool
		if err := rows.Scan(&h.id, &content, &isText); err != nil {
			return nil, err
		}
		if isText {
			h.text = strings.ToValidUTF8(string(content), "\uFFFD")
		}
		out = append(out, h)
	}
	return out, rows.Err()
}
