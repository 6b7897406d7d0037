package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDist: the files that are checked in are those that the sources give, byte for byte.
func TestDist(t *testing.T) {
	files, err := build(filepath.Join("..", "web"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(filepath.Join("..", "dist"))
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != len(files) {
		t.Errorf("dist has %d files, the sources give %d", len(kept), len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "dist", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("dist/%s is stale (%v): run go generate ./studio", name, err)
		}
	}
}

// TestTextOnly: no source of the page makes markup of text, follows a link in data, or loads anything.
func TestTextOnly(t *testing.T) {
	banned := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|https?://|\bstyle=|import\(`)
	names, err := filepath.Glob(filepath.Join("..", "web", "*.ts*"))
	if err != nil || len(names) < 3 {
		t.Fatalf("%d sources, %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if found := banned.FindString(strings.ReplaceAll(line, "http://www.w3.org/2000/svg", "")); found != "" {
				t.Errorf("%s:%d has %s", name, n+1, found)
			}
		}
	}
}
