package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/internal/cputime"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// The limits of one mutant: processor time and memory allocated, from its text to checked Go.
const (
	mutantTime   = 5 * time.Second
	mutantMemory = 512 << 20
)

// A stock is what mutants are bred from: every workflow of the goldens, the examples, the pages and the cases of the public
// dialects that compiles, and the checker of their Go.
type stock struct {
	projects []*project
	own      map[*project][]*ast.File
	pkg      map[*project]string
	breeder  *breeder
	types    *typeChecker
}

var bred struct {
	once sync.Once
	*stock
}

// breeding loads the stock once. Afterwards the go command cannot be found: what mutants name besides is not there.
func breeding(t *testing.T) *stock {
	t.Helper()
	bred.once.Do(func() { bred.stock = loadStock(t) })
	if bred.stock == nil {
		t.Fatal("the stock cannot be loaded")
	}
	return bred.stock
}

func loadStock(t *testing.T) *stock {
	s := &stock{own: map[*project][]*ast.File{}, pkg: map[*project]string{}, types: newTypeChecker()}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay, needs := map[string][]byte{}, map[string]bool{}
	type first struct {
		p    *project
		made *generatedPackage
	}
	var made []first
	left := 0
	for _, p := range slices.Concat(valid(t), dialectProjects(t), docsProjects(t)) {
		if p.wrong || p.slow && missing("python3") {
			continue
		}
		r := p.compile("", "")
		if r.program == nil {
			t.Logf("%s is left out, as it does not compile here: %s", p.name, describe(r.list))
			left++
			continue
		}
		s.own[p], s.pkg[p] = p.own(s.types.fset)
		code, assets, err := p.write(r, s.pkg[p])
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		for _, f := range s.own[p] {
			for _, i := range f.Imports {
				needs[strings.Trim(i.Path.Value, `"`)] = true
			}
		}
		for _, path := range importsOf(code) {
			needs[path] = true
		}
		for name, text := range p.overlay {
			if strings.HasSuffix(name, ".go") {
				overlay[name] = text
				if dir, err := filepath.Rel(root, filepath.Dir(name)); err == nil {
					needs[module+"/"+filepath.ToSlash(dir)] = true
				}
			}
		}
		s.projects = append(s.projects, p)
		made = append(made, first{p, &generatedPackage{code: code, assets: assets}})
	}
	if left > 5 {
		t.Errorf("%d workflows do not compile", left)
	}
	if err := s.types.learn(overlay, slices.Sorted(maps.Keys(needs))); err != nil {
		t.Fatal(err)
	}
	for _, f := range made {
		if err := s.types.check(f.p.path, f.made.code, f.made.assets, s.own[f.p]); err != nil {
			t.Errorf("%s: %v", f.p.name, err)
		}
	}
	s.breeder = newBreeder(s.projects)
	return s
}

func missing(program string) bool { _, err := exec.LookPath(program); return err != nil }

// withoutGo hides the go command, and leaves the interpreters that compiling may start.
func withoutGo(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, program := range []string{"python3", "node"} {
		if file, err := exec.LookPath(program); err == nil {
			if file, err = filepath.EvalSymlinks(file); err == nil {
				err = os.Symlink(file, filepath.Join(dir, program))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("PATH", dir)
	t.Cleanup(func() { known = bind.Cache{} }) // it has kept that there is no go command
}

// A mutant is one of the files that a seed makes.
type mutant struct {
	seed uint64
	of   *project
	file string // the one that differs
	text string
}

func (s *stock) mutant(seed uint64) mutant {
	r := rand.New(rand.NewPCG(seed, 13))
	p := one(r, s.projects)
	for p.slow && r.IntN(10) != 0 {
		p = one(r, s.projects)
	}
	files := p.sources()
	file := files[0]
	if r.IntN(4) == 0 {
		file = one(r, files)
	}
	return mutant{seed, p, file, s.breeder.breed(r, p.language, file, p.files[file])}
}

// figures are what a campaign has seen.
type figures struct {
	First, Seeds, Accepted, Programs int
	Panics, Builds, Slow, Heavy      int
	Unplaced                         int // refused with an error that points nowhere
	Longest                          time.Duration
	Most                             uint64 // bytes allocated

	Failures map[string][]string // texts without names, and the first mutants that have them

	seen map[uint64]bool // programs that were checked
}

func (f *figures) String() string {
	return fmt.Sprintf("%d mutants, %d accepted, %d programs: %d panics, %d that do not build, %d over %v (longest %v), %d over %d MiB (most %d), %d errors without a place",
		f.Seeds, f.Accepted, f.Programs, f.Panics, f.Builds, f.Slow, mutantTime, f.Longest.Round(time.Millisecond), f.Heavy, mutantMemory>>20, f.Most>>20, f.Unplaced)
}

func (f *figures) fail(m mutant, what string) {
	if f.Failures == nil {
		f.Failures = map[string][]string{}
	}
	class := classOf(what)
	if len(f.Failures[class]) < 3 {
		f.Failures[class] = append(f.Failures[class], fmt.Sprintf("seed %d (%s): %s\n%s", m.seed, m.file, what, m.text))
	} else if len(f.Failures[class]) < 1000 {
		f.Failures[class] = append(f.Failures[class], fmt.Sprint("seed ", m.seed))
	}
}

var varying = regexp.MustCompile(`x_flow\.go:\d+:\d+|"[^"]*"|[0-9]+|0x[0-9a-f]+`)

// classOf is the first line of a failure without what differs from mutant to mutant.
func classOf(what string) string {
	line, _, _ := strings.Cut(what, "\n")
	return varying.ReplaceAllString(line, "*")
}

// try compiles a mutant as flowgen does, and holds it to what is promised.
func (s *stock) try(m mutant, f *figures) {
	f.Seeds++
	defer func() {
		if what := recover(); what != nil {
			f.Panics++
			f.fail(m, fmt.Sprintf("panic: %v at %s\n%s", what, panicked(debug.Stack()), debug.Stack()))
		}
	}()
	var r *result
	before := allocated()
	took := cputime.Of(func() { r = s.compile(m, f) })
	used := allocated() - before
	f.Longest, f.Most = max(f.Longest, took), max(f.Most, used)
	if took > mutantTime {
		f.Slow++
		f.fail(m, fmt.Sprintf("takes %v", took))
	}
	if used > mutantMemory {
		f.Heavy++
		f.fail(m, fmt.Sprintf("allocates %d MiB", used>>20))
	}
	if r == nil {
		return
	}
	for _, d := range r.list {
		if d.Severity == diag.Error && (d.Span.File == nil || d.Code == "") {
			f.Unplaced++
			f.fail(m, "no place: "+d.Message)
		}
	}
}

func (s *stock) compile(m mutant, f *figures) *result {
	r := m.of.compile(m.file, m.text)
	if r.program == nil {
		if r.errors() == 0 {
			f.fail(m, "no program, and no error that says why")
		}
		return r
	}
	f.Accepted++
	code, assets, err := m.of.write(r, s.pkg[m.of])
	if err != nil {
		f.Panics++
		f.fail(m, "generate: "+err.Error())
		return r
	}
	h := fnv.New64a()
	h.Write([]byte(m.of.path))
	h.Write(code)
	if f.seen[h.Sum64()] {
		return r
	}
	if f.seen == nil {
		f.seen = map[uint64]bool{}
	}
	f.seen[h.Sum64()] = true
	f.Programs++
	if err := s.types.check(m.of.path, code, assets, s.own[m.of]); err != nil {
		f.Builds++
		f.fail(m, "go build: "+err.Error())
	}
	return r
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

var frame = regexp.MustCompile(`(?m)^\t\S*/((?:codegen|ir|parser)/\S+\.go:\d+)`)

// panicked is the innermost place of the compiler in a stack.
func panicked(stack []byte) string {
	_, after, _ := bytes.Cut(stack[max(0, bytes.LastIndex(stack, []byte("\npanic("))):], []byte("panic("))
	if m := frame.FindSubmatch(after); m != nil {
		return strings.ReplaceAll(string(m[1]), ":", " line ")
	}
	return "?"
}

func describe(list []diag.Diagnostic) string {
	var b bytes.Buffer
	_ = diag.Text(&b, list, diag.TextOptions{})
	return b.String()
}

// TestMutants breeds workflows until enough of them are accepted, and type-checks the Go of each. BRED is how many are
// wanted, BRED_SEED the first seed. With BRED_DIR the campaign goes on in slices of 20,000 seeds, whose figures are
// kept in that folder: those that are there are not run again.
func TestMutants(t *testing.T) {
	slowUnderRace(t)
	want, first, dir := setting("BRED", pick(200, 400, 400)), setting("BRED_SEED", 1), os.Getenv("BRED_DIR")
	s := breeding(t)
	withoutGo(t)
	total := &figures{}
	for slice := 0; total.Accepted < want; slice++ {
		f := &figures{First: first}
		kept := ""
		if dir != "" {
			f.First = first + slice*sliceSeeds
			kept = filepath.Join(dir, fmt.Sprintf("slice-%09d.json", f.First))
		}
		if text, err := os.ReadFile(kept); err != nil || json.Unmarshal(text, f) != nil {
			for seed := f.First; (kept == "" || seed < f.First+sliceSeeds) && total.Accepted+f.Accepted < want; seed++ {
				m := s.mutant(uint64(seed))
				stop := watch(m)
				s.try(m, f)
				stop()
			}
			if kept != "" {
				f.keep(t, kept)
			}
		}
		t.Log(f)
		total.add(f)
	}
	t.Log("all: ", total)
	for _, class := range sortedKeys(total.Failures) {
		t.Errorf("%d times %s\n%s", len(total.Failures[class]), class, total.Failures[class][0])
	}
	if total.Accepted*10 < total.Seeds {
		t.Error("less than a tenth of the mutants is accepted: they say little")
	}
}

const sliceSeeds = 20_000

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// watch says which mutant hangs, when one does.
func watch(m mutant) (stop func()) {
	timer := time.AfterFunc(5*time.Minute, func() {
		fmt.Fprintf(os.Stderr, "seed %d hangs: %s\n%s\n", m.seed, m.file, m.text)
		panic("a mutant hangs")
	})
	return func() { timer.Stop() }
}

func (f *figures) keep(t *testing.T, file string) {
	t.Helper()
	text, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o777)
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "seeds from %d: %s\n", f.First, f)
}

func (f *figures) add(o *figures) {
	f.Seeds, f.Accepted, f.Programs = f.Seeds+o.Seeds, f.Accepted+o.Accepted, f.Programs+o.Programs
	f.Panics, f.Builds, f.Slow, f.Heavy, f.Unplaced = f.Panics+o.Panics, f.Builds+o.Builds, f.Slow+o.Slow, f.Heavy+o.Heavy, f.Unplaced+o.Unplaced
	f.Longest, f.Most = max(f.Longest, o.Longest), max(f.Most, o.Most)
	if f.Failures == nil {
		f.Failures = map[string][]string{}
	}
	for class, list := range o.Failures {
		f.Failures[class] = append(f.Failures[class], list...)
	}
}
