package journal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// versions is a workflow: fetch, then probe over what it gave, with search and rate in each item, then post; log beside them.
func version() *Hashes {
	return &Hashes{
		Graph: "g",
		Nodes: map[string]string{"fetch": "1", "probe": "2", "probe/": "3", "probe/search": "4", "probe/rate": "5", "probe/clock": "6", "post": "7", "log": "8"},
		From: map[string][]string{
			"probe": {"fetch"}, "probe/": {"fetch"}, "probe/search": {"probe/"}, "probe/rate": {"probe/search"}, "post": {"probe"},
		},
	}
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name string
		edit func(old, now *Hashes)
		want Changes
	}{
		{"nothing", func(old, now *Hashes) {},
			Changes{Unaffected: []string{"fetch", "log", "post", "probe", "probe/clock", "probe/rate", "probe/search"}}},
		{"a node", func(old, now *Hashes) { now.Nodes["log"] = "x" },
			Changes{Unaffected: []string{"fetch", "post", "probe", "probe/clock", "probe/rate", "probe/search"}, Changed: []string{"log"}}},
		{"the first", func(old, now *Hashes) { now.Nodes["fetch"] = "x" },
			Changes{Unaffected: []string{"log", "probe/clock"}, Changed: []string{"fetch"}, Downstream: []string{"post", "probe", "probe/rate", "probe/search"}}},
		{"inside of a container", func(old, now *Hashes) { now.Nodes["probe/rate"], now.Nodes["probe"] = "x", "y" },
			Changes{Unaffected: []string{"fetch", "log", "probe/clock", "probe/search"}, Changed: []string{"probe", "probe/rate"}, Downstream: []string{"post"}}},
		{"what a container maps over", func(old, now *Hashes) { now.Nodes["probe/"], now.Nodes["probe"] = "x", "y" },
			Changes{Unaffected: []string{"fetch", "log", "probe/clock"}, Changed: []string{"probe"}, Downstream: []string{"post", "probe/rate", "probe/search"}}},
		{"the result of a container", func(old, now *Hashes) { now.Nodes["probe"] = "y" },
			Changes{Unaffected: []string{"fetch", "log", "probe/clock", "probe/rate", "probe/search"}, Changed: []string{"probe"}, Downstream: []string{"post"}}},
		{"a new node before another", func(old, now *Hashes) {
			now.Nodes["check"] = "n"
			now.From["post"] = []string{"check", "probe"}
		}, Changes{Unaffected: []string{"fetch", "log", "probe", "probe/clock", "probe/rate", "probe/search"}, Added: []string{"check"}, Downstream: []string{"post"}}},
		{"a node that is gone", func(old, now *Hashes) {
			delete(now.Nodes, "fetch")
			now.From["probe"], now.From["probe/"] = nil, nil
		}, Changes{Unaffected: []string{"log", "probe/clock"}, Removed: []string{"fetch"}, Downstream: []string{"post", "probe", "probe/rate", "probe/search"}}},
		{"nothing known of the old one's order", func(old, now *Hashes) { old.From, now.Nodes["fetch"] = nil, "x" },
			Changes{Unaffected: []string{"log", "probe/clock"}, Changed: []string{"fetch"}, Downstream: []string{"post", "probe", "probe/rate", "probe/search"}}},
		{"a container that was none", func(old, now *Hashes) {
			old.Nodes = map[string]string{"fetch": "1", "probe": "0", "post": "7", "log": "8"}
			old.From = map[string][]string{"probe": {"fetch"}, "post": {"probe"}}
		}, Changes{Unaffected: []string{"fetch", "log"}, Changed: []string{"probe"}, Downstream: []string{"post"}, Added: []string{"probe/clock", "probe/rate", "probe/search"}}},
		{"no container any more", func(old, now *Hashes) {
			now.Nodes = map[string]string{"fetch": "1", "probe": "0", "post": "7", "log": "8"}
			now.From = map[string][]string{"probe": {"fetch"}, "post": {"probe"}}
		}, Changes{Unaffected: []string{"fetch", "log"}, Changed: []string{"probe"}, Downstream: []string{"post"}, Removed: []string{"probe/clock", "probe/rate", "probe/search"}}},
		{"a loop of edges", func(old, now *Hashes) {
			for _, h := range []*Hashes{old, now} {
				h.Nodes = map[string]string{"draft/draft": "1", "draft/review": "2", "log": "3"}
				h.From = map[string][]string{"draft/draft": {"draft/review"}, "draft/review": {"draft/draft"}}
			}
			now.Nodes["draft/review"] = "x"
		}, Changes{Unaffected: []string{"log"}, Changed: []string{"draft/review"}, Downstream: []string{"draft/draft"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			old, now := version(), version()
			tt.edit(old, now)
			if diff := cmp.Diff(&tt.want, Compare(old, now)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPathOf(t *testing.T) {
	h := &Hashes{Nodes: map[string]string{"fetch": "", "probe": "", "probe/": "", "probe/search": "", "review": "", "next/next": "", "next/cell": "", "pub": "", "pub/notify": ""}}
	for key, want := range map[string]string{
		"fetch": "fetch", "fetch#2": "fetch", "probe[3]/search": "probe/search", "probe[3]/search#4": "probe/search", "pub/notify": "pub/notify",
		"review[0]/model": "review", "review#2[1]/search#3": "review", "review[0]/fetch/../probe/search": "review",
		"next[1]/next": "next/next", "next[1]/cell#2": "next/cell", "next[1]/gone": "", "gone": "", "": "", "[1]/fetch": "", "probe[1]/gone": "probe", "probe/": "probe",
	} {
		if got := h.PathOf(key); got != want {
			t.Errorf("%q belongs to %q, want %q", key, got, want)
		}
	}
}

func TestParseHashes(t *testing.T) {
	const text = `{"graph":"0123456789abcdef","nodes":{"a":"0011223344556677"},"from":{"b":["a"]}}`
	h, err := ParseHashes(text)
	if err != nil {
		t.Fatal(err)
	}
	want := &Hashes{Graph: "0123456789abcdef", Nodes: map[string]string{"a": "0011223344556677"}, From: map[string][]string{"b": {"a"}}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "null x", `{"graph":1}`, `{"nodes":{"a":"1","a":"2"}}`, `{"other":1}`} {
		if _, err := ParseHashes(bad); err == nil {
			t.Errorf("%q is taken for hashes", bad)
		}
	}
}
