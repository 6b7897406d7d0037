package main

import (
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
)

// stem is the name of a generated file without its end: how the names of what it embeds begin.
func stem(file string) string { return strings.TrimSuffix(filepath.Base(file), ".go") }

// embeddable tells which source files Go can embed from where they are, when the generated file is in dir: regular files
// below dir that no link leads to and that are in no other module. The names are relative to dir.
func embeddable(dir string) func(file string) (string, bool) {
	abs, err := filepath.Abs(dir)
	return func(file string) (string, bool) {
		rel, relErr := filepath.Rel(abs, file)
		if err != nil || relErr != nil || !filepath.IsLocal(rel) {
			return "", false
		}
		parts := strings.Split(rel, string(filepath.Separator))
		at := abs
		for i, part := range parts {
			at = filepath.Join(at, part)
			st, err := files.Lstat(at)
			last := i == len(parts)-1
			if err != nil || last && !st.Mode().IsRegular() || !last && !st.IsDir() {
				return "", false
			}
			if !last {
				if files.Exists(filepath.Join(at, "go.mod")) {
					return "", false
				}
			}
		}
		return filepath.ToSlash(rel), true
	}
}
