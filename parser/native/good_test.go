package native_test

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

var update = flag.Bool("update", false, "rewrite the golden files, and fail")

// folder is a folder on disk.
type folder string

func (f folder) ReadFile(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(f), filepath.FromSlash(name)))
}

func goodFiles(t *testing.T) []string {
	paths, err := filepath.Glob("testdata/good/*.flowgen.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	return paths
}

func TestGood(t *testing.T) {
	for _, path := range goodFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var sink diag.Sink
			w := parser.Parse(folder("testdata/good"), filepath.Base(path), &sink)
			for _, d := range sink.List() {
				t.Errorf("%s:%v: %s: %s", d.Span.File.Name, d.Span.Start(), d.Code, d.Message)
			}
			got, golden := ir.Dump(w), strings.TrimSuffix(path, ".flowgen.yaml")+".dump"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				t.Error("rewritten: read the difference and run again")
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the dump differs (-want +got):\n%s", diff)
			}
		})
	}
}

// walk calls f for every value of the IR, each pointer once.
func walk(v reflect.Value, seen map[uintptr]bool, f func(v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return
		}
		switch v.Type() {
		case reflect.TypeFor[*source.File](), reflect.TypeFor[*expr.Node](), reflect.TypeFor[*ir.Provided](): // the last is not a part of the file
			return
		}
		seen[v.Pointer()] = true
		f(v)
		walk(v.Elem(), seen, f)
	case reflect.Interface:
		walk(v.Elem(), seen, f)
	case reflect.Struct:
		f(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i), seen, f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), seen, f)
		}
	}
}

// TestIdentSpans holds every name of the IR against the text at its place.
func TestIdentSpans(t *testing.T) {
	for _, path := range goodFiles(t) {
		var sink diag.Sink
		w := parser.Parse(folder("testdata/good"), filepath.Base(path), &sink)
		made := []string{} // names that do not stand in the file
		walk(reflect.ValueOf(w), map[uintptr]bool{}, func(v reflect.Value) {
			switch x := v.Interface().(type) {
			case *ir.Tool:
				made = append(made, x.Name.Name)
			case *ir.Node:
				if x.Inline {
					made = append(made, x.ID.Name)
				}
			}
		})
		n := 0
		walk(reflect.ValueOf(w), map[uintptr]bool{}, func(v reflect.Value) {
			switch x := v.Interface().(type) {
			case ir.Ident:
				n++
				if x.Name != "" && x.Span.Text() != x.Name && !slices.Contains(made, x.Name) {
					t.Errorf("%s: %q stands at %v, where the file has %q", path, x.Name, x.Span.Start(), x.Span.Text())
				}
			case *schema.Field:
				if x.Span.Text() != x.Name && x.GoName == "" {
					t.Errorf("%s: field %q stands at %q", path, x.Name, x.Span.Text())
				}
			case *schema.Decl:
				if x.Span.Text() != x.Name {
					t.Errorf("%s: type %q stands at %q", path, x.Name, x.Span.Text())
				}
			}
		})
		if n == 0 {
			t.Errorf("%s: no names", path)
		}
	}
}
