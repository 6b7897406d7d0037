package goname

import (
	"go/token"
	"testing"
)

// FuzzNames: whatever a name is made of, it is one Go identifier of letters, digits and underscores that means nothing
// by itself.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"", "_", "a_b", "URL", "é", "func", "init", "main", "1", "a\nb", "*/", "//go:build x", "\xff", "x_1", "ＡＢ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		for kind, name := range map[string]string{"exported": Exported(id), "local": Local(id), "package": Package(id)} {
			if !token.IsIdentifier(name) {
				t.Fatalf("%s of %q is %q", kind, id, name)
			}
			for _, r := range name {
				if r > 'z' || r != '_' && !('0' <= r && r <= '9') && !('A' <= r && r <= 'Z') && !('a' <= r && r <= 'z') {
					t.Fatalf("%s of %q is %q", kind, id, name)
				}
			}
			if kind == "exported" && !token.IsExported(name) || name == "init" || name == "main" || name == "_" || name == "C" && kind != "exported" {
				t.Fatalf("%s of %q is %q", kind, id, name)
			}
		}
	})
}
