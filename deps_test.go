package flowgen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/flowgen-dev/flowgen"

// A row says what a package may import besides the standard library. A path ending in /... covers what is below it.
type row struct {
	pkg   string   // relative to the module; the most specific row wins
	own   []string // flowgen packages
	other []string // modules or packages of others
}

// table is the architecture: cmd -> parser -> ir -> ir/check -> codegen, a runtime that knows nothing of the compiler,
// and each family of foreign modules in one leaf. A package without a row fails, so that a new one is a decision.
var table = []row{
	{pkg: "ir/source"},
	{pkg: "ir/goname"},
	{pkg: "ir/diag", own: []string{"ir/source", "runtime/editdistance"}},
	{pkg: "ir/schema", own: []string{"ir/source"}},
	{pkg: "ir/expr", own: []string{"ir/source", "ir/schema", "ir/diag"}},
	{pkg: "ir", own: []string{"ir/source", "ir/diag", "ir/schema", "ir/expr"}},
	{pkg: "ir/bind", own: append([]string{"ir/bind/...", "internal/files", "internal/programs"}, irLeaves...), other: []string{"golang.org/x/tools/go"}},
	{pkg: "ir/bind/foreign", own: append([]string{"internal/files"}, irLeaves...)},
	{pkg: "ir/bind/mcplock", own: append([]string{"ir/bind/foreign"}, irLeaves...)},
	{pkg: "ir/bind/jssource", own: append([]string{"ir/bind/foreign", "internal/files"}, irLeaves...), other: []string{"github.com/evanw/esbuild"}},
	{pkg: "ir/bind/starsource", own: append([]string{"ir/bind/foreign"}, irLeaves...), other: []string{"go.starlark.net"}},
	{pkg: "ir/bind/openapisource", own: append([]string{"ir/bind/foreign", "ir/bind/mcplock"}, irLeaves...), other: []string{"github.com/getkin/kin-openapi"}},
	{pkg: "ir/bind/sqlsource", own: append([]string{"ir/bind/foreign", "ir/bind/mcplock"}, irLeaves...), other: []string{"modernc.org/sqlite", "modernc.org/libc"}},
	{pkg: "ir/bind/wasmsource", own: append([]string{"ir/bind/foreign", "ir/bind/mcplock"}, irLeaves...)},
	{pkg: "ir/bind/pysource", own: append([]string{"ir/bind/foreign", "internal/files", "internal/programs"}, irLeaves...)},
	{pkg: "internal/built"},   // for tests
	{pkg: "internal/cputime"}, // for tests
	{pkg: "internal/files"},   // how the compiler reads
	{pkg: "internal/recipes", own: []string{"runtime/llm", "runtime/llm/fake"}}, // for tests
	{pkg: "internal/straced"}, // what tests watch
	{pkg: "internal/lazyregexp"},
	{pkg: "internal/programs", own: []string{"internal/files"}}, // what the compiler starts
	{pkg: "internal/gomodules", own: []string{"internal/files", "internal/programs"}, other: []string{"golang.org/x/mod"}},
	{pkg: "internal/offline", other: []string{"golang.org/x/mod"}},      // for tests
	{pkg: "internal/mutants", other: []string{"golang.org/x/tools/go"}}, // a program for `make mutants`
	{pkg: "internal/release", other: []string{"golang.org/x/mod"}},      // a program for `make release`
	{pkg: "internal/site", other: []string{"github.com/yuin/goldmark"}}, // a program for `make site`, a module of its own
	{pkg: "ir/check", own: append([]string{"runtime/llm/catalog"}, irLeaves...)},
	{pkg: "ir/plan", own: []string{"ir", "ir/check", "runtime/llm/catalog"}},
	{pkg: "ir/manifest", own: []string{"ir", "ir/check", "ir/expr", "ir/plan", "ir/schema"}},
	{pkg: "ir/hashes", own: append([]string{"ir/check"}, irLeaves...)},

	{pkg: "parser/yamlnode", own: []string{"internal/lazyregexp", "ir/source", "ir/diag"}, other: []string{"go.yaml.in/yaml"}},
	{pkg: "parser/yamlfmt", own: []string{"parser/yamlnode", "ir/source"}},
	{pkg: "parser/insert", own: []string{"parser/yamlnode", "ir/source"}},
	{pkg: "parser/migrate", own: []string{"internal/lazyregexp", "parser/insert", "parser/yamlnode", "ir/diag", "ir/source"}},
	{pkg: "parser/dialect", own: append([]string{"parser/yamlnode"}, irLeaves...)},
	{pkg: "parser/dialect/walk", own: []string{"ir", "ir/expr"}},
	{pkg: "parser/openexpertise", own: append([]string{"parser/yamlnode", "parser/dialect"}, irLeaves...)},
	{pkg: "parser/jinja", own: irLeaves, other: []string{"github.com/nikolalohinski/gonja"}},
	{pkg: "parser/yamlgraph", own: append([]string{"parser/yamlnode", "parser/dialect", "parser/dialect/walk", "parser/jinja", "runtime/yamlgraph/providers"}, irLeaves...)},
	{pkg: "parser/stargraph", own: append([]string{"parser/yamlnode", "parser/dialect"}, irLeaves...)},
	{pkg: "parser/sirenspec", own: append([]string{"parser/yamlnode", "parser/dialect"}, irLeaves...)},
	{pkg: "parser/native", own: append([]string{"parser/yamlnode"}, irLeaves...)},
	// its list of dialects names their conversions, and it says why a file cannot be read as commands do
	{pkg: "parser", own: append([]string{"parser/...", "convert", "convert/...", "internal/files"}, irLeaves...)},

	{pkg: "codegen", own: append([]string{"runtime/llm/catalog", "ir/check", "ir/plan", "ir/manifest", "ir/hashes"}, irLeaves...), other: []string{"github.com/dave/jennifer"}},
	{pkg: "convert", own: append([]string{"convert/doc", "runtime/llm/catalog", "ir/check", "parser/dialect", "parser/yamlnode", "parser/yamlfmt", "parser/migrate", "parser/native"}, irLeaves...)},
	{pkg: "convert/doc", own: []string{"internal/lazyregexp", "ir/source", "parser/yamlnode"}},
	{pkg: "convert/openexpertise", own: append([]string{"convert", "convert/doc", "parser/dialect", "parser/openexpertise", "parser/yamlnode"}, irLeaves...)},
	{pkg: "convert/stargraph", own: append([]string{"convert"}, irLeaves...)},
	{pkg: "convert/yamlgraph", own: append([]string{"convert", "convert/doc", "parser/dialect", "parser/jinja", "parser/yamlgraph", "parser/yamlnode", "runtime/yamlgraph/providers"}, irLeaves...)},
	{pkg: "convert/sirenspec", own: append([]string{"convert", "convert/doc", "parser/dialect", "parser/sirenspec"}, irLeaves...)},
	{pkg: "templates"},
	{
		// runtime/cli draws the graphs: flowgen's and those of compiled programs are the same.
		// `flowgen lock` asks servers as programs do.
		pkg: "cmd/flowgen/...", own: []string{"cmd/flowgen/...", "internal/files", "internal/gomodules", "internal/programs", "parser", "parser/insert", "ir", "ir/...", "codegen", "convert", "templates", "studio", "runtime", "runtime/flow", "runtime/tool", "runtime/engine", "runtime/value", "runtime/redact", "runtime/usage", "runtime/cli", "runtime/flowtest", "runtime/httptool", "runtime/journal", "runtime/journal/...", "runtime/llm/catalog", "runtime/mcptool", "runtime/sandbox", "runtime/secret"},
		other: []string{"github.com/sourcegraph/jsonrpc2", "github.com/spf13/cobra", "golang.org/x/mod", "golang.org/x/term"},
	},

	{
		// what a model costs is in the catalog of the runtime
		pkg: "cmd/flowgen/internal/index", own: []string{"ir", "ir/..."},
	},
	{pkg: "cmd/flowgen/internal/pgdescribe", other: []string{"github.com/jackc/pgx/v5/pgconn"}}, // for `flowgen lock`
	{
		// the language server reads what the tables of the native language say of keys
		pkg: "cmd/flowgen/internal/lsp", own: []string{"cmd/flowgen/internal/index", "internal/files", "internal/lazyregexp", "ir", "ir/...", "parser", "parser/native", "runtime/editdistance"},
		other: []string{"github.com/sourcegraph/jsonrpc2"},
	},

	// The page knows the compiler by what cmd/flowgen gives it, and reads journals itself.
	{pkg: "studio", own: []string{"studio/picture", "runtime/cli", "runtime/engine", "runtime/flow", "runtime/journal", "runtime/journal/diff", "runtime/journal/runs", "runtime/tool", "runtime/usage", "runtime/value"}},
	{pkg: "studio/layout"},
	{pkg: "studio/picture", own: []string{"studio/layout", "runtime/cli"}},
	{pkg: "internal/playground", own: append([]string{"codegen", "ir/check", "ir/plan", "parser", "runtime/cli", "runtime/flow", "studio/picture"}, irLeaves...)}, // a program for `make site`
	{pkg: "studio/bundle", other: []string{"github.com/evanw/esbuild"}},                                                                                           // a program for `go generate ./studio`

	{pkg: "runtime/value"}, // the leaf that all packages may import
	{pkg: "runtime/cel", own: []string{"runtime/value"}},
	{pkg: "runtime/redact", own: []string{"runtime/value"}},
	{pkg: "runtime/usage", own: []string{"runtime/value"}},
	// The implementation, and what says of it which part is promised to whom. Nothing else imports core, so that these are complete.
	{pkg: "runtime/core", own: []string{"runtime/value", "runtime/redact", "runtime/usage", "runtime/internal/..."}, other: golangX},
	{pkg: "runtime", own: facade},
	{pkg: "runtime/flow", own: facade},
	{pkg: "runtime/tool", own: facade},
	{pkg: "runtime/engine", own: facade},
	{pkg: "runtime/internal/...", own: []string{"runtime/internal/..."}, other: golangX},
	{pkg: "runtime/internal/leaves/...", own: []string{"runtime", "runtime/..."}}, // tests that need several leaves
	{pkg: "runtime/editdistance"},        // compiler and programs suggest names
	{pkg: "runtime/yamlgraph/providers"}, // data that compiler and runtime have to agree on
	{pkg: "runtime/llm/catalog"},         // what is known of models of others: data that compiler and runtime have to agree on
	{pkg: "runtime/internal/leaks", own: []string{"runtime/internal/proc"}, other: []string{"go.uber.org/goleak"}}, // for tests
	{pkg: "runtime/...", own: []string{"runtime", "runtime/..."}, other: golangX},
	{pkg: "runtime/mcpserver/...", own: []string{"runtime", "runtime/..."}, other: []string{"github.com/modelcontextprotocol/go-sdk"}},
	{pkg: "runtime/mcptool/...", own: []string{"runtime", "runtime/..."}, other: append([]string{"github.com/modelcontextprotocol/go-sdk"}, golangX...)},
	{pkg: "runtime/blob/s3", own: append([]string{"runtime/blob", "runtime/stores"}, audience...), other: []string{"github.com/minio/minio-go"}},
	{pkg: "runtime/cache/redis", own: append([]string{"runtime/stores"}, audience...), other: []string{"github.com/redis/go-redis"}},
	{pkg: "runtime/journal/internal/disktest", own: append([]string{"runtime/internal/eventually", "runtime/journal/..."}, audience...), other: []string{"github.com/google/go-cmp"}}, // for tests
	{pkg: "runtime/journal/postgres", own: append([]string{"runtime/journal/database", "runtime/journal/wal", "runtime/stores"}, audience...), other: []string{"github.com/jackc/pgx/v5"}},
	{pkg: "runtime/journal/sqlite", own: append([]string{"runtime/journal/database", "runtime/journal/wal", "runtime/stores"}, audience...), other: []string{"modernc.org/sqlite"}},
	{pkg: "runtime/sqltool/postgres", own: append([]string{"runtime/sqltool"}, audience...), other: []string{"github.com/jackc/pgx/v5"}},
	{pkg: "runtime/sqltool/sqlite", own: append([]string{"runtime/sqltool"}, audience...), other: []string{"modernc.org/sqlite"}},
	{pkg: "runtime/openexpertise/sqlite", own: append([]string{"runtime/openexpertise"}, audience...), other: []string{"modernc.org/sqlite"}},
	{pkg: "runtime/stargraph/store", own: append([]string{"runtime/stargraph/std"}, audience...), other: []string{"modernc.org/sqlite", "golang.org/x/text"}},
	{pkg: "runtime/llm/anthropic", own: llmLeaf, other: []string{"github.com/anthropics/anthropic-sdk-go"}},
	{pkg: "runtime/llm/gemini", own: llmLeaf, other: []string{"google.golang.org/genai"}},
	{pkg: "runtime/llm/responses", own: llmLeaf, other: []string{"github.com/openai/openai-go/v3"}},
	{pkg: "runtime/temporal", own: append([]string{"runtime/cli", "runtime/journal"}, audience...), other: []string{"go.temporal.io", "github.com/nexus-rpc/sdk-go", "google.golang.org/protobuf"}},
	{pkg: "runtime/otel/traced", own: append([]string{"runtime/cli", "runtime/otel"}, audience...)},
	{pkg: "runtime/otel", own: audience, other: []string{"go.opentelemetry.io/otel"}}, // its tests decode what was sent,
	{pkg: "runtime/startool", own: append([]string{"runtime/internal/..."}, audience...), other: []string{"go.starlark.net"}},
	{pkg: "runtime/wasmtool", own: append([]string{"runtime/internal/..."}, audience...), other: []string{"github.com/tetratelabs/wazero"}},
	{pkg: "runtime/jstool/embedded", own: append([]string{"runtime/internal/...", "runtime/worker"}, audience...), other: []string{"github.com/grafana/sobek"}},

	{pkg: "examples/...", own: []string{"examples/...", "runtime", "runtime/..."}},
	{pkg: "bench/...", own: []string{"bench/...", "runtime", "runtime/..."}},
	{pkg: "bench/compile", own: []string{"parser", "ir", "ir/...", "codegen"}},
}

// testOnly packages have no code of their own; their tests may import everything.
var testOnly = []string{"", "golden/...", "docs/...", "studio/browser"}

var (
	irLeaves = []string{"internal/lazyregexp", "ir", "ir/source", "ir/diag", "ir/schema", "ir/expr", "ir/goname"}
	llmLeaf  = append([]string{"runtime/httptool", "runtime/internal/...", "runtime/llm", "runtime/llm/internal/..."}, audience...)
	facade   = []string{"runtime/core", "runtime/value", "runtime/redact", "runtime/usage"}
	audience = []string{"runtime", "runtime/flow", "runtime/tool", "runtime/engine", "runtime/value", "runtime/redact", "runtime/usage"}
	golangX  = []string{"golang.org/x/sync", "golang.org/x/sys", "golang.org/x/term", "golang.org/x/text"}

	// What tests may use beyond their package's row. cel-go is the oracle of the expression language and stays one.
	inTests = []string{"github.com/google/go-cmp", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/rogpeppe/go-internal", "golang.org/x/tools", "go.opentelemetry.io/proto/otlp", "google.golang.org/protobuf"}
	oracle  = "cel.dev"
	oracled = []string{"ir/expr", "codegen", "golden/..."}
)

type listed struct {
	ImportPath                         string
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
}

func TestImports(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range list(t, goos) {
			rel := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
			if covered(testOnly, rel) {
				if len(p.GoFiles) > 0 && rel != "docs" {
					t.Errorf("%s is for tests only but has %v", p.ImportPath, p.GoFiles)
				}
				continue
			}
			r, ok := find(rel)
			if !ok {
				t.Errorf("%s has no row in the import table of deps_test.go", p.ImportPath)
				continue
			}
			for _, imp := range p.Imports {
				if imp == module+"/runtime/core" && !slices.Equal(r.own, facade) {
					t.Errorf("%s (%s) imports runtime/core: import the package that promises what is needed of it", rel, goos)
				}
				if why := r.refuses(imp); why != "" {
					t.Errorf("%s (%s) imports %s: %s", rel, goos, imp, why)
				}
			}
			for _, imp := range append(p.TestImports, p.XTestImports...) {
				if why := refusesInTest(rel, imp); why != "" {
					t.Errorf("a test of %s imports %s: %s", rel, imp, why)
				}
			}
		}
	}
}

func list(t *testing.T, goos string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,GoFiles,Imports,TestImports,XTestImports", "work")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var pkgs []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			if len(pkgs) < 10 {
				t.Fatalf("go list found %d packages only", len(pkgs))
			}
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// find returns the most specific row of a package.
func find(rel string) (row, bool) {
	best, ok := row{}, false
	for _, r := range table {
		if covered([]string{r.pkg}, rel) && (!ok || len(r.pkg) > len(best.pkg) || r.pkg == rel) {
			best, ok = r, true
			if r.pkg == rel {
				break
			}
		}
	}
	return best, ok
}

// covered tells whether rel is one of the patterns or below one that ends in /...
func covered(patterns []string, rel string) bool {
	for _, p := range patterns {
		root, deep := strings.CutSuffix(p, "/...")
		if rel == root || deep && strings.HasPrefix(rel, root+"/") {
			return true
		}
	}
	return false
}

// refuses says why a package of this row may not import imp; "" when it may.
func (r row) refuses(imp string) string {
	if rel, own := strings.CutPrefix(imp, module+"/"); own {
		if covered(r.own, rel) {
			return ""
		}
		return fmt.Sprintf("of flowgen it may import %v", r.own)
	}
	if standard(imp) || within(r.other, imp) {
		return ""
	}
	return fmt.Sprintf("of foreign modules it may import %v", r.other)
}

// refusesInTest is looser about flowgen's own packages (a test may drive the whole compiler) but not about the runtime,
// whose tests must not need the compiler, and not about foreign modules.
func refusesInTest(rel, imp string) string {
	r, _ := find(rel)
	own, isOwn := strings.CutPrefix(imp, module+"/")
	switch {
	case isOwn && covered([]string{"runtime/...", "examples/..."}, rel) && !covered([]string{"runtime/...", "examples/..."}, own):
		return "the runtime and the examples do not need the compiler"
	case isOwn, standard(imp), within(r.other, imp), within(inTests, imp):
		return ""
	case within([]string{oracle}, imp) && covered(oracled, rel):
		return ""
	}
	return fmt.Sprintf("beyond its row a test may import %v", inTests)
}

func within(modules []string, imp string) bool {
	for _, m := range modules {
		if imp == m || strings.HasPrefix(imp, m+"/") {
			return true
		}
	}
	return false
}

// standard packages have no dot in the first element of their path.
func standard(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".")
}

func TestTableIsRead(t *testing.T) {
	tests := []struct{ pkg, imp, wantPart string }{
		{"runtime", module + "/ir", "of flowgen it may import"},
		{"runtime/flow", module + "/runtime/tool", "of flowgen it may import"},
		{"runtime/cli", "github.com/spf13/cobra", "of foreign modules"},
		{"runtime/journal", module + "/runtime", ""},
		{"ir/check", module + "/codegen", "of flowgen it may import"},
		{"ir", module + "/ir/check", "of flowgen it may import"},
		{"codegen", "github.com/dave/jennifer/jen", ""},
		{"ir/bind", "golang.org/x/tools/go/packages", ""},
		{"cmd/flowgen/internal/cache", module + "/codegen", ""},
		{"parser/native", module + "/parser/native2", "of flowgen it may import"},
	}
	for _, tt := range tests {
		r, ok := find(tt.pkg)
		if !ok {
			t.Errorf("%s has no row", tt.pkg)
			continue
		}
		if got := r.refuses(tt.imp); (got == "") != (tt.wantPart == "") || !strings.Contains(got, tt.wantPart) {
			t.Errorf("%s imports %s: %q, want %q", tt.pkg, tt.imp, got, tt.wantPart)
		}
	}
}

// TestOffline: tests that take the network from the go command get their modules from internal/offline. Otherwise they
// pass on machines where something else has downloaded what they need, and fail on new ones.
func TestOffline(t *testing.T) {
	const setting = "GO" + "PROXY"
	seen := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if end := path.Ext(name); d.IsDir() || end != ".txtar" && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "internal/offline/") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil && bytes.Contains(text, []byte(setting)) {
			if seen++; path.Dir(name) != "internal/offline" {
				t.Errorf("%s sets %s; use offline.Env", name, setting)
			}
		}
		return err
	})
	if err != nil || seen == 0 {
		t.Error("the test looks in the wrong place", err)
	}
}

// What traces is linked only into programs that ask for it.
func TestTracesAreNotLinked(t *testing.T) {
	deps := func(pkg string) string { return linked(t, pkg) }
	const family = "go.opentelemetry.io/"
	for _, pkg := range []string{"examples/hello", "examples/incident", "runtime/cli", "runtime/agent", "runtime/llm/openai"} {
		if strings.Contains(deps(pkg), family) {
			t.Errorf("%s links %s", pkg, family)
		}
	}
	if !strings.Contains(deps("runtime/otel"), family) {
		t.Errorf("runtime/otel does not link %s: the test looks for the wrong thing", family)
	}
}

// linked lists the packages that a program has, one a line.
func linked(t *testing.T, pkg string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "./"+pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestSmallPrograms: a workflow that needs no network and starts nothing links nothing for it, nor what works when a program starts.
func TestSmallPrograms(t *testing.T) {
	list := "\n" + linked(t, "examples/hello")
	for _, pkg := range []string{"crypto/rand", "math/big", "net", "net/netip", "net/url", "os/exec", "regexp", "text/template", "unique"} {
		if strings.Contains(list, "\n"+pkg+"\n") {
			t.Errorf("examples/hello links %s", pkg)
		}
	}
	if !strings.Contains(list, "\nencoding/json\n") {
		t.Error("the test looks for the wrong thing")
	}
}
