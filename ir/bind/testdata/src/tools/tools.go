// Package tools holds one function of every shape that can be bound.
package tools

import (
	"context"
	"time"

	"github.com/flowgen-dev/flowgen/ir/bind/testdata/src/model"
)

// SearchIn is the input of Search.
type SearchIn struct {
	// Query is what to look for.
	//
	// Not this.
	Query string   `json:"query"`
	Limit *int     `json:"limit,omitempty"` // how many at most
	Tags  []string `json:"tags,omitempty"`
	Exact bool     `json:"exact,omitempty"`
	Cache any      `json:"-"`
}

// A Hit is one result.
type Hit struct {
	URL   string
	Score float32 `json:"score"`
	Kind  model.Kind
	When  time.Time     `json:"when"`
	Took  time.Duration `json:"took"`
	Raw   []byte        `json:"raw"`
	Next  *Hits         `json:"next"`
	Count map[string]uint16
}

// Hits are strings with a name.
type Hits []string

// Level is an enum in the same package.
type Level string

const (
	High Level = "high"
	Low  Level = "low"
	Mid        = Level("mid")
	None       = "none" // not of type Level
	deep Level = "deep"
)

var _ = deep

// Path is a string with a name.
type Path string

// Page is generic.
type Page[T any] struct {
	Items []T `json:"items"`
}

// Search finds pages about a query,
// best first.
//
// More about it.
func Search(ctx context.Context, in SearchIn) ([]Hit, error) { return nil, nil }

// Find is Search with pointers.
func Find(in *SearchIn) (*Hit, error) { return nil, nil }

func Pure(in SearchIn) Hit { return Hit{} }

func Named(ctx context.Context, text string, n int, at time.Time, path Path) (Level, error) {
	return "", nil
}

func At(at time.Time) time.Duration { return 0 }

func Nothing(ctx context.Context) error { return nil }

func Silent() {}

func Value() Page[Hit] { return Page[Hit]{} }

func Unnamed(context.Context, SearchIn) error { return nil }

// Union is a merge rule.
func Union(old, new []string) []string { return old }

func Larger(int, int) int { return 0 }

func hidden(in SearchIn) error { return nil }

var Variable = hidden
