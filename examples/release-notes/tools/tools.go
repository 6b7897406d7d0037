// Package tools reads and sorts commits for the release notes.
package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Commit is one commit of the history.
type Commit struct {
	Hash    string    `json:"hash"`
	Author  string    `json:"author"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
}

// Parse reads one line of `git log`: hash, author, time and subject, separated by U+001F.
func Parse(line string) (Commit, error) {
	parts := strings.SplitN(line, "\x1f", 4)
	if len(parts) != 4 {
		return Commit{}, fmt.Errorf("a line of the log has %d of 4 parts", len(parts))
	}
	when, err := time.Parse(time.RFC3339, parts[2])
	if err != nil {
		return Commit{}, errors.New("a line of the log has no time")
	}
	return Commit{Hash: parts[0], Author: parts[1], Time: when, Subject: parts[3]}, nil
}

// Kind says what a change is to those who use the software.
type Kind string

// The kinds, in the order of the notes.
const (
	Feature Kind = "feature"
	Fix     Kind = "fix"
	Docs    Kind = "docs"
	Other   Kind = "other"
)

// Change is a commit with its kind.
type Change struct {
	Hash     string `json:"hash"`
	Author   string `json:"author"`
	Kind     Kind   `json:"kind"`
	Breaking bool   `json:"breaking"`
	Summary  string `json:"summary"`
}

// ClassifyInput is what Classify looks at.
type ClassifyInput struct {
	Commit Commit `json:"commit"`
}

var prefixes = map[string]Kind{
	"feat": Feature, "feature": Feature, "add": Feature,
	"fix": Fix, "bugfix": Fix, "perf": Fix,
	"docs": Docs, "doc": Docs,
}

// Classify tells the kind of a commit from the start of its subject: `feat(parser)!: ...` or simply `Add ...`.
func Classify(_ context.Context, in ClassifyInput) (Change, error) {
	c := Change{Hash: in.Commit.Hash, Author: in.Commit.Author, Kind: Other, Summary: in.Commit.Subject}
	if head, rest, ok := strings.Cut(in.Commit.Subject, ":"); ok && !strings.Contains(head, " ") {
		c.Breaking = strings.HasSuffix(head, "!")
		name, _, _ := strings.Cut(strings.TrimSuffix(head, "!"), "(")
		if kind, ok := prefixes[strings.ToLower(name)]; ok {
			c.Kind, c.Summary = kind, strings.TrimSpace(rest)
		}
		return c, nil
	}
	first, _, _ := strings.Cut(in.Commit.Subject, " ")
	if kind, ok := prefixes[strings.ToLower(first)]; ok {
		c.Kind = kind
	}
	return c, nil
}

// Visible keeps what users notice: features, fixes and whatever breaks.
func Visible(changes []Change) []Change {
	kept := []Change{}
	for _, c := range changes {
		if c.Kind == Feature || c.Kind == Fix || c.Breaking {
			kept = append(kept, c)
		}
	}
	return kept
}

// Group is the changes of one kind.
type Group struct {
	Title   string   `json:"title"`
	Changes []Change `json:"changes"`
}

// ByKind sorts changes into groups, in the order of the kinds; empty groups are left out.
func ByKind(changes []Change) []Group {
	groups := []Group{}
	for _, g := range []struct {
		kind  Kind
		title string
	}{{Feature, "Features"}, {Fix, "Fixes"}, {Docs, "Documentation"}, {Other, "Other changes"}} {
		var of []Change
		for _, c := range changes {
			if c.Kind == g.kind {
				of = append(of, c)
			}
		}
		if len(of) > 0 {
			groups = append(groups, Group{Title: g.title, Changes: of})
		}
	}
	return groups
}

// SaveInput is a file to write.
type SaveInput struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Saved is a file that was written.
type Saved struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

// Save writes a text file, whole or not at all.
func Save(_ context.Context, in SaveInput) (Saved, error) {
	tmp, err := os.CreateTemp(filepath.Dir(in.Path), ".notes-*")
	if err != nil {
		return Saved{}, err
	}
	defer os.Remove(tmp.Name())
	n, err := tmp.WriteString(in.Text)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return Saved{}, err
	}
	return Saved{Path: in.Path, Bytes: n}, os.Rename(tmp.Name(), in.Path)
}
