package hostile

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/parser"
)

// roots are the files that cases of the public dialects are compiled from.
var roots = func() map[string]string {
	names := map[string]string{}
	for _, d := range parser.Languages() {
		names[d.Name] = d.Root
	}
	return names
}()

// ReadDir implements parser.Lister.
func (m memory) ReadDir(name string) ([]fs.DirEntry, error) {
	files := fstest.MapFS{}
	for file, text := range m {
		files[strings.TrimPrefix(file, "../")] = &fstest.MapFile{Data: []byte(text)}
	}
	return files.ReadDir(strings.TrimPrefix(name, "../"))
}

// dialectProjects are the cases of golden/<dialect>.
func dialectProjects(t *testing.T) []*project {
	t.Helper()
	var out []*project
	for _, language := range sortedKeys(roots) {
		files, err := filepath.Glob("../" + language + "/*.txtar")
		if err != nil || len(files) < 30 {
			t.Fatalf("%d cases of %s: %v", len(files), language, err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, dialectProject(t, language, strings.TrimSuffix(filepath.Base(file), ".txtar"), archive))
		}
	}
	return out
}

func dialectProject(t *testing.T, language, name string, archive *txtar.Archive) *project {
	t.Helper()
	dir := "../" + language + "/" + name
	p := &project{name: language + "/" + name, main: dir + "/" + roots[language], language: language, dir: dir,
		path: module + "/golden/" + language + "/" + name, files: map[string]string{}, overlay: map[string][]byte{}}
	if strings.HasPrefix(string(archive.Comment), "compat: upstream\n") {
		p.compat = "upstream"
	}
	for _, f := range archive.Files {
		if f.Name == "want/diag" && bytes.Contains(f.Data, []byte("error[")) {
			p.wrong = true
		}
		if strings.HasPrefix(f.Name, "want/") {
			continue
		}
		p.files[dir+"/"+f.Name] = string(f.Data)
		if slices.Contains([]string{".go", ".js", ".mjs", ".cjs", ".ts", ".json", ".py", ".star"}, path.Ext(f.Name)) {
			abs, err := filepath.Abs(filepath.Join(filepath.FromSlash(dir), filepath.FromSlash(f.Name)))
			if err != nil {
				t.Fatal(err)
			}
			p.overlay[abs] = f.Data
		}
		p.slow = p.slow || path.Ext(f.Name) == ".py"
	}
	return p
}

// docsProjects are the whole workflows of the pages, each with the files that its page shows.
func docsProjects(t *testing.T) []*project {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	dialects, err := filepath.Glob("../../docs/dialects/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, dialects...)
	support, err := txtar.ParseFile("../testdata/docs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var out []*project
	for _, page := range append(pages, "../../README.md") {
		if filepath.Base(page) != "diagnostics.md" {
			out = append(out, pageProjects(t, page, support)...)
		}
	}
	if len(out) < 5 {
		t.Fatalf("%d workflows in the pages", len(out))
	}
	warm(out)
	return out
}

var (
	fenced   = regexp.MustCompile("(?ms)^```([a-z]+)((?: [a-z]+=[^ \n]+)*)\n(.*?)^```$")
	blockArg = regexp.MustCompile(`(file|fragment|error)=(\S+)`)
	nameLine = regexp.MustCompile(`(?m)^name: ([a-z0-9_]+)`)
	dots     = regexp.MustCompile(`(?m)^( *)\.\.\.\n`)
)

func pageProjects(t *testing.T, page string, support *txtar.Archive) []*project {
	t.Helper()
	page1, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page1)
	folder := "docs_" + strings.ToLower(strings.TrimSuffix(filepath.Base(page), ".md"))
	local := func(text string) string {
		return strings.ReplaceAll(text, "example.com/app/", module+"/golden/native/"+folder+"/")
	}
	files, frames, mains := map[string]string{}, map[string]string{}, map[string]string{}
	for _, f := range support.Files {
		if frame, ok := strings.CutPrefix(f.Name, "frame/"); ok {
			frames[frame] = string(f.Data)
		} else if f.Name != "go.mod" {
			files[f.Name] = string(f.Data)
		}
	}
	for _, b := range fenced.FindAllStringSubmatch(text, -1) {
		args := map[string]string{}
		for _, a := range blockArg.FindAllStringSubmatch(b[2], -1) {
			args[a[1]] = a[2]
		}
		name, body := args["file"], local(b[3])
		switch {
		case args["error"] != "":
			continue
		case args["fragment"] != "" && b[1] == "yaml":
			body = fill(frames[args["fragment"]], body)
			mains[fmt.Sprintf("block%d%s", len(mains), suffix)] = body
			continue
		case name == "" && b[1] == "yaml":
			m := nameLine.FindStringSubmatch(body)
			if m == nil {
				continue
			}
			name = m[1] + suffix
		}
		if name != "" {
			files[name] = body
		}
		if b[1] == "yaml" && strings.HasSuffix(name, suffix) && strings.Contains(body, "\nnodes:") {
			mains[name] = body
		}
	}
	var out []*project
	for _, main := range sortedKeys(mains) {
		p := &project{name: folder + "/" + main, main: folder + "/" + main, files: map[string]string{}, overlay: map[string][]byte{}, dir: goldens, inside: true,
			path: module + "/golden/native/" + folder}
		files[main] = mains[main]
		for name, text := range files {
			abs, err := filepath.Abs(filepath.Join(goldens, folder, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			p.files[folder+"/"+name] = text
			if !strings.HasSuffix(name, ".yaml") {
				p.overlay[abs] = []byte(local(text))
			}
		}
		p.slow = strings.Contains(mains[main], "python:")
		out = append(out, p)
	}
	return out
}

// fill puts a fragment in the place of the line `...` of a frame.
func fill(frame, fragment string) string {
	at := dots.FindStringSubmatchIndex(frame)
	if at == nil {
		return fragment
	}
	var b strings.Builder
	for line := range strings.Lines(fragment) {
		b.WriteString(frame[at[2]:at[3]] + line)
	}
	return frame[:at[0]] + b.String() + frame[at[1]:]
}
