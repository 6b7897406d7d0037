package golden_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	flowparser "github.com/flowgen-dev/flowgen/parser"
)

// otherParsers are YAML libraries that editors and scripts read workflows with: each reads texts by name from standard input, as
// JSON, and prints the names of those that it refuses, with the reason.
var otherParsers = []struct {
	name, program, code string
	there               []string // a command that succeeds where the library is installed
}{
	{"PyYAML", "python3", `
import json, sys, os
sys.path[:0] = filter(None, [os.environ.get("PYYAML")])
import yaml
for name, text in json.load(sys.stdin).items():
    try:
        for _ in yaml.compose_all(text, Loader=yaml.SafeLoader): pass
    except yaml.YAMLError as e:
        print(name + ": " + str(e).replace("\n", " "))
`, []string{"python3", "-c", `import sys, os; sys.path[:0] = filter(None, [os.environ.get("PYYAML")]); import yaml`}},
	{"js-yaml", "node", `
const yaml = require(process.env.JS_YAML || "js-yaml")
for (const [name, text] of Object.entries(JSON.parse(require("fs").readFileSync(0)))) {
  try { yaml.loadAll(text) } catch (e) { console.log(name + ": " + e.message.replaceAll("\n", " ")) }
}
`, []string{"node", "-e", `require(process.env.JS_YAML || "js-yaml")`}},
}

// refused says in a golden case that its YAML is none, or none that other parsers read: duplicate keys, unknown tags.
var refused = regexp.MustCompile(`FG00\d\d\b|FG0514|enum_brackets_wrong`)

// refusedUnformatted are files that PyYAML reads when flowgen fmt has laid them out.
var refusedUnformatted = []string{
	"flowgen: 1\nname: a\nnodes:\n  a: {let: x}\noutput: {a: $a?.n, b: [$a?.m, who?]}\n",
	"flowgen: 1\nname: a\nnodes: {a: {llm: m, prompt: Who?}, b: {let: [a ? b, {c: d?}]}}\n",
}

func TestOtherParsersReadWorkflows(t *testing.T) {
	texts := workflowsOf(t)
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range otherParsers {
		t.Run(p.name, func(t *testing.T) {
			if err := exec.Command(p.there[0], p.there[1:]...).Run(); err != nil { //nolint:gosec // the commands above
				if os.Getenv("CI") != "" && os.Getenv("JS_YAML") != "none" {
					t.Fatalf("%s is not installed: %v", p.name, err)
				}
				t.Skipf("%s is not installed", p.name)
			}
			flag := map[string]string{"python3": "-c", "node": "-e"}[p.program]
			cmd := exec.Command(p.program, flag, p.code) //nolint:gosec // the commands above
			cmd.Stdin = bytes.NewReader(in)
			out, err := cmd.CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// workflowsOf are the examples, the templates, the YAML of the documentation and the native inputs of golden cases, by name.
func workflowsOf(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, dir := range []string{"../examples", "../templates", "../docs", "../README.md", "native"} {
		if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch filepath.Ext(path) {
			case ".yaml", ".md", ".txtar":
			default:
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := string(data)
			switch filepath.Ext(path) {
			case ".yaml":
				texts[path] = text
			case ".md":
				before, rest, ok := strings.Cut(text, "```yaml")
				for n := 0; ok; n++ {
					info, block, _ := strings.Cut(rest, "\n")
					block, rest, _ = strings.Cut(block, "```")
					if !strings.HasSuffix(before, "Wrong:\n\n") && !strings.Contains(info, " error=") {
						texts[fmt.Sprint(path, " block ", n)] = block
					}
					before, rest, ok = strings.Cut(rest, "```yaml")
				}
			default:
				for _, f := range txtar.Parse(data).Files {
					if strings.HasSuffix(f.Name, ".yaml") && !refused.MatchString(text) {
						texts[path+"/"+f.Name] = string(f.Data)
					}
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range append(slices.Collect(maps.Values(texts)), refusedUnformatted...) {
		if !strings.HasPrefix(text, "flowgen: 1\n") {
			continue
		}
		f := source.NewFile("f.flowgen.yaml", text)
		laidOut, ok, err := flowparser.Format(f, &diag.Sink{})
		if ok && err == nil {
			texts[fmt.Sprint("formatted ", i)] = laidOut
		} else if slices.Contains(refusedUnformatted, text) {
			t.Fatalf("cannot be formatted: %v\n%s", err, text)
		}
	}
	if len(texts) < 400 {
		t.Fatalf("%d texts are too few", len(texts))
	}
	return texts
}
