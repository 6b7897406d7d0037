package openapisource_test

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/bind/openapisource"
)

const head = "openapi: 3.1.0\ninfo: {title: x, version: '1'}\nservers: [{url: 'https://x.example'}]\n"

// operation is a document with one operation whose answer has the schema that is referred to.
func operation(ref, components string) string {
	return head + "paths:\n  /a:\n    get:\n      operationId: a\n      responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '" + ref + "'}}}}}\n" +
		"components:\n  schemas:\n" + components
}

// chain are schemas each of which line makes of its number and that of the next, the last a string.
func chain(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "    S%d: %s\n", i, line(i))
	}
	fmt.Fprintf(&b, "    S%d: {type: string}\n", n)
	return b.String()
}

// TestHostile opens documents that mean harm: each is refused with a reason, or is a tool of bounded types. What should not be read
// would be seen in the reason or in the types.
func TestHostile(t *testing.T) {
	ref := func(i int) string { return fmt.Sprintf("{$ref: '#/components/schemas/S%d'}", i+1) }
	laughs := "x-0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf("x-%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
	}
	for name, c := range map[string]struct{ text, wrong string }{ // wrong: part of the reason; empty: it is read, or refused for any
		"aliases that multiply":     {head + laughs + "paths: {}\n", "alias"},
		"an alias of itself":        {head + "x-a: &a {b: *a}\npaths: {}\n", "contains itself"},
		"chain of references":       {operation("#/components/schemas/S0", chain(3000, ref)), ""},
		"circle of references":      {operation("#/components/schemas/A", "    A: {$ref: '#/components/schemas/B'}\n    B: {$ref: '#/components/schemas/A'}\n"), ""},
		"schema of itself":          {operation("#/components/schemas/A", "    A: {$ref: '#/components/schemas/A'}\n"), ""},
		"allOf of itself":           {operation("#/components/schemas/A", "    A: {allOf: [{$ref: '#/components/schemas/A'}], type: object}\n"), ""},
		"discriminator of itself":   {operation("#/components/schemas/A", "    A: {oneOf: [{$ref: '#/components/schemas/A'}, {type: object}], discriminator: {propertyName: k}}\n"), ""},
		"types that double":         {operation("#/components/schemas/S0", chain(40, func(i int) string { return "{type: object, properties: {a: " + ref(i) + ", b: " + ref(i) + "}}" })), ""},
		"alternatives that double":  {operation("#/components/schemas/S0", chain(40, func(i int) string { return "{oneOf: [" + ref(i) + ", {type: array, items: " + ref(i) + "}]}" })), ""},
		"parts that double":         {operation("#/components/schemas/S0", chain(40, func(i int) string { return "{allOf: [" + ref(i) + ", " + ref(i) + "]}" })), ""},
		"remote":                    {operation("https://x.example/y.yaml#/S", "    A: {type: string}\n"), "only files below"},
		"remote without a scheme":   {operation("//x.example/y.yaml#/S", "    A: {type: string}\n"), "only files below"},
		"file address":              {operation("file:///etc/passwd#/S", "    A: {type: string}\n"), "only files below"},
		"absolute path":             {operation("/etc/passwd#/S", "    A: {type: string}\n"), "outside"},
		"path out of the project":   {operation("../secret.yaml#/S", "    A: {type: string}\n"), "outside"},
		"path out, escaped":         {operation("%2e%2e/secret.yaml#/S", "    A: {type: string}\n"), "outside"},
		"path out by a link":        {operation("link.yaml#/S", "    A: {type: string}\n"), "link.yaml"},
		"50 MB":                     {head + "paths: {}\nx-a: \"" + strings.Repeat("a", 50<<20) + "\"\n", "larger than"},
		"deep brackets":             {head + "paths: {}\nx-a: " + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + "\n", ""},
		"a folder":                  {operation("sub#/S", "    A: {type: string}\n"), "sub"},
		"many files":                {many(), "more than"},
		"no document":               {"[1, 2]\n", ""},
		"bytes that are no text":    {"openapi: 3.0.0\nx: \xff\xfe\n", "UTF-8"},
		"an operation that is null": {head + "paths: {/a: {get: null, post: {responses: null}}, /b: null}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			dir := filepath.Join(root, "project")
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			write("project/a.yaml", c.text)
			write("secret.yaml", "S: {type: object, properties: {hunter2: {type: string}}}\n")
			if err := os.Symlink(filepath.Join(root, "secret.yaml"), filepath.Join(dir, "link.yaml")); err != nil {
				t.Skip(err)
			}
			for i := range 250 {
				if name == "many files" {
					write(fmt.Sprintf("project/f%d.yaml", i), "S: {type: string}\n")
				}
			}
			done := make(chan string, 1)
			go func() { done <- imported(dir) }()
			select {
			case got := <-done:
				if strings.Contains(got, "hunter2") || strings.Contains(got, "root:") {
					t.Errorf("it read what it must not: %s", got)
				}
				if goruntime.GOOS == "windows" && strings.Contains(got, "it refers to etc/passwd: no such file") {
					return // the library has made the path one below the folder
				}
				if !strings.Contains(got, c.wrong) {
					t.Errorf("got %.300q, want %q", got, c.wrong)
				}
				if len(got) > 2<<20 {
					t.Errorf("it is %d bytes", len(got))
				}
			case <-time.After(3 * time.Minute):
				t.Fatal("it does not end")
			}
		})
	}
}

// imported is what is said of a document: why it is not read, or its tools and their types.
func imported(dir string) string {
	d, err := openapisource.Open(&foreign.Files{}, foreign.Folder{Disk: dir}, "a.yaml")
	if err != nil {
		return foreign.Reason(err)
	}
	made := openapisource.Declare(d, func(*openapisource.Operation) bool { return true })
	types, _, err := d.Locked("a")
	return fmt.Sprint(made.Text, made.Refused, types, err)
}

func many() string {
	var b strings.Builder
	for i := range 250 {
		fmt.Fprintf(&b, "    S%d: {$ref: 'f%d.yaml#/S'}\n", i, i)
	}
	return operation("#/components/schemas/S0", b.String())
}

// TestTooLarge: a result with too many fields is any from a level on, and still a tool that compiles.
func TestTooLarge(t *testing.T) {
	dir := t.TempDir()
	text := operation("#/components/schemas/S0", chain(14, func(i int) string {
		next := fmt.Sprintf("{$ref: '#/components/schemas/S%d'}", i+1)
		return fmt.Sprintf("{type: object, properties: {a%[1]d: %[2]s, b%[1]d: %[2]s, c%[1]d: %[2]s}}", i, next)
	}))
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := openapisource.Open(&foreign.Files{}, foreign.Folder{Disk: dir}, "a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	made := openapisource.Declare(d, func(*openapisource.Operation) bool { return true })
	if made.Tools != 1 || !strings.Contains(made.Text, "# left out: what its result has below level 7") {
		t.Errorf("%s\n%q", made.Text, made.Refused)
	}
	compile(t, dir, made)
	types, _, err := d.Locked("a")
	if err != nil || !strings.Contains(types, `"a6"`) || strings.Contains(types, `"a7"`) {
		t.Error("the types have other levels than 7", err)
	}
}
