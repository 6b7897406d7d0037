//go:build unix

// Mutants changes one operator after the other in the packages that promises rest on, and sees whether a test notices.
//
//	go run ./internal/mutants [-for 30m] [package ...]
//
// The operators are those of gremlins: boundary and negation of conditions, arithmetic, ++ and --, signs. All mutants of a
// package are in one test binary, so that one costs a run of the tests that reach it and no link. Results are kept in
// .flowgen/mutants: a run that ends early goes on with the next one. A mutant that survives is to be killed by a test, or
// explained in explained.txt.
package main

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A target is a package whose mutants are to be noticed: by its own tests, then by those of the packages in also.
type target struct {
	pkg   string
	files []string // globs
	also  []string
}

const golden = "golden"

var all = []string{"*.go"}

var targets = []target{
	{"runtime/journal/wal", all, nil},
	{"ir/expr", all, []string{"golden/core", golden, "codegen"}},
	{"runtime/journal", all, []string{"runtime/journal/runs", "runtime/sim"}},
	{"runtime/httptool", []string{"guard.go", "special.go"}, nil},
	{"ir/check", []string{"activation.go", "formula.go", "state.go", "tokens_state.go"}, []string{golden}},
	{"runtime/core", []string{"door.go", "gate.go", "guard.go", "policy.go", "rate.go", "retry.go"}, []string{"runtime/agent", "runtime/journal", "runtime/sim"}},
	{"runtime/redact", all, []string{"runtime/core"}},
	{"runtime/journal/runs", all, nil},
	{"runtime/sandbox", all, nil},
}

// A verdict is what is known of a mutant. It holds for the file it was found with, and a survivor's for the tests.
type verdict struct {
	By    string `json:"by,omitempty"` // the unit that noticed it, "" for none
	Code  string `json:"code"`
	Tests string `json:"tests,omitempty"` // of a survivor
}

//go:embed explained.txt
var explained string

func main() {
	limit := flag.Duration("for", 24*time.Hour, "stop after this time; the next run goes on")
	least := flag.Float64("least", 92, "percentage of mutants that have to be killed")
	dir := flag.String("dir", ".flowgen/mutants", "where the copy of the module and the results are")
	list := flag.Bool("list", false, "print what is known and run nothing")
	own := flag.Bool("own", false, "run the own tests of a package only")
	files := flag.String("files", "*", "try mutants of files only whose name matches this pattern")
	most := flag.Duration("most", 0, "leave out tests that take more processor time, and try what survives again without this flag")
	skip := flag.String("skip", "", "leave out tests whose name matches this pattern")
	flag.Parse()
	for i := range targets {
		if *own {
			targets[i].also = nil
		}
	}
	b := &bench{dir: *dir, until: time.Now().Add(*limit), files: *files, most: *most, skip: *skip, verdicts: map[string]verdict{}}
	ok, err := b.all(flag.Args(), *least, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

type bench struct {
	dir      string
	until    time.Time
	tried    int
	files    string // pattern
	most     time.Duration
	skip     string
	tree     *tree
	verdicts map[string]verdict
}

func (b *bench) all(only []string, least float64, list bool) (ok bool, err error) {
	if text, err := os.ReadFile(b.results()); err == nil {
		if err := json.Unmarshal(text, &b.verdicts); err != nil {
			return false, fmt.Errorf("%s: %w", b.results(), err)
		}
	}
	if b.tree, err = grow(filepath.Join(b.dir, "tree"), targets); err != nil {
		return false, err
	}
	b.tree.most = b.most
	if b.skip != "" {
		if b.tree.skip, err = regexp.Compile(b.skip); err != nil {
			return false, err
		}
	}
	ok = true
	for _, t := range targets {
		if len(only) > 0 && !slices.Contains(only, t.pkg) {
			continue
		}
		if !list {
			if err := b.try(t); err != nil {
				return false, err
			}
		}
		ok = b.report(t, least) && ok
	}
	return ok, nil
}

func (b *bench) results() string { return filepath.Join(b.dir, "results.json") }

// try runs the mutants of a target that have no verdict yet.
func (b *bench) try(t target) error {
	tests, err := sum(append([]string{t.pkg}, t.also...))
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(b.tree.mutants[t.pkg]), func(m mutant) bool {
		if ok, _ := filepath.Match(b.files, filepath.Base(m.file)); !ok {
			return true
		}
		v, ok := b.verdicts[m.key()]
		return ok && v.Code == b.tree.code[m.file] && (v.By != "" || v.Tests == tests)
	})
	for _, pkg := range append([]string{t.pkg}, t.also...) {
		if len(left) == 0 || b.over() {
			return nil
		}
		last := len(t.also) == 0 || pkg == t.also[len(t.also)-1]
		if left, err = b.with(t, pkg, left, tests, last); err != nil {
			return err
		}
	}
	return nil
}

// with runs mutants against the tests of one package and returns those that none of them has noticed.
func (b *bench) with(t target, pkg string, left []mutant, tests string, last bool) (survivors []mutant, err error) {
	units, err := b.tree.measured(pkg)
	if err != nil {
		return nil, err
	}
	return b.slice(left, func(m mutant) (by string, err error) {
		v := verdict{By: b.tree.kill(units, t.pkg, m), Code: b.tree.code[m.file]}
		if v.By == "" && last && b.most == 0 && b.skip == "" {
			v.Tests = tests // else the tests of other packages are still to come
		}
		b.verdicts[m.key()] = v
		return v.By, b.save()
	})
}

// over reports whether the slice has ended. It tries one mutant at least, because measuring may take longer than a slice.
func (b *bench) over() bool { return b.tried > 0 && time.Now().After(b.until) }

// slice tries mutants until the slice is over. It returns those that were not noticed and those that were not tried.
func (b *bench) slice(left []mutant, try func(mutant) (by string, err error)) (survivors []mutant, err error) {
	for i, m := range left {
		if b.over() {
			return append(survivors, left[i:]...), nil
		}
		b.tried++
		by, err := try(m)
		if err != nil {
			return nil, err
		}
		if by == "" {
			survivors = append(survivors, m)
		}
	}
	return survivors, nil
}

func (b *bench) save() error {
	text, err := json.MarshalIndent(b.verdicts, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(b.results()+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(b.results()+".new", b.results())
}

// report prints the figures of a target and what survives without an explanation.
func (b *bench) report(t target, least float64) bool {
	why := explanations(explained)
	var killed, lived, known, open int
	for _, m := range b.tree.mutants[t.pkg] {
		v, ok := b.verdicts[m.key()]
		reason := why[m.key()]
		if ok, _ := filepath.Match(b.files, filepath.Base(m.file)); !ok {
			continue
		}
		switch {
		case !ok || v.Code != b.tree.code[m.file]:
			open++
		case v.By != "":
			killed++
			if reason != "" {
				fmt.Printf("%s:%d: explained, but %s notices it: %s\n", m.file, m.line, v.By, m.key())
			}
		default:
			if lived++; reason != "" {
				known++
				continue
			}
			fmt.Printf("%s:%d: lived: %s\n", m.file, m.line, m.key())
		}
	}
	share := 100 * float64(killed) / float64(max(killed+lived, 1))
	fmt.Printf("%s: %d mutants, %d killed, %d lived (%d explained), %d to do: %.1f %%\n", t.pkg, killed+lived+open, killed, lived, known, open, share)
	return open == 0 && lived == known && share >= least
}

// explanations reads lines of the form `file | function | expression | operator | why`.
func explanations(text string) map[string]string {
	why := map[string]string{}
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		if at := strings.LastIndex(s.Text(), " | "); at > 0 && !strings.HasPrefix(s.Text(), "#") {
			why[s.Text()[:at]] = s.Text()[at+3:]
		}
	}
	return why
}

// sum is one of all tests and their data below packages.
func sum(pkgs []string) (string, error) {
	h := sha256.New()
	for _, pkg := range pkgs {
		err := filepath.WalkDir(pkg, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if d != nil && d.IsDir() && name != pkg && filepath.Base(name) != "testdata" && filepath.Base(name) != "native" {
					return fs.SkipDir
				}
				return err
			}
			if strings.HasSuffix(name, "_test.go") || filepath.Ext(name) != ".go" {
				text, err := os.ReadFile(name)
				fmt.Fprintf(h, "%s\n%s\n", name, text)
				return err
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}
