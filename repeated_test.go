package flowgen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sameText are the messages that several places report although they are not one mistake, and how many places. The list may only
// shrink.
var sameText = map[string]int{
	"unknown filter …":                                    2, // of the native language, of guards
	"… cannot be used: …":                                 2, // a lock, a description of a module: each with its own code
	"… has no field …":                                    2, // a mistake of a file, a mistake of a translator
	"… has no value":                                      3, // a key, a word of a directive, a key that an engine refuses
	"the tool … is not converted":                         2,
	"this value cannot be written in the native language": 2,
}

// TestMistakesHaveOneText: a mistake that several places find is reported by one constructor. Otherwise its words, its code and its
// help differ sooner or later. What is compared is the text of messages, with a … for what is put into it.
func TestMistakesHaveOneText(t *testing.T) {
	set, files := token.NewFileSet(), map[string][]*ast.File{}
	count := 0
	for _, tree := range compilerTrees {
		err := filepath.WalkDir(filepath.FromSlash(tree), func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && (e.Name() == "testdata" || slices.Contains(notCompiler, filepath.ToSlash(name))):
				return filepath.SkipDir
			case e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			files[filepath.Dir(name)] = append(files[filepath.Dir(name)], file)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := map[string][]string{}
	for text, at := range messages(files) {
		for _, p := range at {
			count++
			found[text] = append(found[text], set.Position(p).String())
		}
	}
	for _, text := range slices.Sorted(maps.Keys(found)) {
		if at := found[text]; len(at) > max(1, sameText[text]) {
			t.Errorf("%q is reported in %d places, expected %d; make a constructor of it:\n\t%s", text, len(at), max(1, sameText[text]), strings.Join(at, "\n\t"))
		}
	}
	for _, text := range slices.Sorted(maps.Keys(sameText)) {
		if len(found[text]) < sameText[text] {
			t.Errorf("%q is reported in %d places, expected %d: correct the list", text, len(found[text]), sameText[text])
		}
	}
	if count < 900 {
		t.Errorf("only %d messages were found", count)
	}
}

// messages are the texts of the messages in packages, by folder, with the places of each: what stands under Message in a
// Diagnostic or a Problem, and arguments of functions whose parameter is called message or format.
func messages(packages map[string][]*ast.File) map[string][]token.Pos {
	reporters := map[string]map[string]int{} // index of the text, by folder ("" for those that other folders may call) and name
	for dir, files := range packages {
		for _, file := range files {
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if i := textParameter(f); i >= 0 {
					for _, of := range []string{dir, ""} {
						if reporters[of] == nil {
							reporters[of] = map[string]int{}
						}
						if of == dir || f.Name.IsExported() {
							reporters[of][f.Name.Name] = i
						}
					}
				}
			}
		}
	}
	out := map[string][]token.Pos{}
	add := func(e ast.Expr) {
		if text, ok := messageText(e); ok && len(strings.Fields(text)) > 1 && strings.Trim(text, "…,: ") != "" {
			out[text] = append(out[text], e.Pos())
		}
	}
	for dir, files := range packages {
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit: // related places are not mistakes
					kind := n.Type
					if list, ok := kind.(*ast.ArrayType); ok {
						kind = list.Elt
					}
					return lastName(kind) != "Related"
				case *ast.KeyValueExpr:
					if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Message" {
						add(n.Value)
					}
				case *ast.CallExpr:
					i, ok := reporters[dir][lastName(n.Fun)]
					if !ok {
						i, ok = reporters[""][lastName(n.Fun)]
					}
					if ok && i < len(n.Args) {
						add(n.Args[i])
					}
				}
				return true
			})
		}
	}
	return out
}

// textParameter is the index of the parameter of f that is the text of a message, -1 if there is none.
func textParameter(f *ast.FuncDecl) int {
	if f.Type.Results != nil {
		for _, r := range f.Type.Results.List {
			if list, ok := r.Type.(*ast.ArrayType); ok && lastName(list.Elt) == "Related" {
				return -1
			}
		}
	}
	i := 0
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			if name.Name == "message" || name.Name == "format" {
				return i
			}
			i++
		}
	}
	return -1
}

// lastName is the name of a function or a type, without its package.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

var inserted = regexp.MustCompile("[`\"]?(?:…|%[-+#0]*[0-9.]*[a-zA-Z])[`\"]?")

// messageText is the text of a literal, of a sum with literals in it or of a format; ok is false when there is no text in it.
func messageText(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "…", false
		}
		s, err := strconv.Unquote(e.Value)
		return inserted.ReplaceAllString(s, "…"), err == nil
	case *ast.ParenExpr:
		return messageText(e.X)
	case *ast.BinaryExpr:
		x, okX := messageText(e.X)
		y, okY := messageText(e.Y)
		return inserted.ReplaceAllString(x+y, "…"), okX || okY
	case *ast.CallExpr:
		if lastName(e.Fun) == "Sprintf" && len(e.Args) > 0 {
			return messageText(e.Args[0])
		}
	}
	return "…", false
}
