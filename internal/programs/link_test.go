package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModuleLinks: the go command quotes lines of a go.mod that it cannot read. One that a link leads to outside is not shown to it.
func TestModuleLinks(t *testing.T) {
	above, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(above, "outside")
	if err := os.WriteFile(outside, []byte("canary of the user\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range moduleFiles {
		for _, to := range []string{outside, "inside"} {
			root := filepath.Join(above, "r"+strings.ReplaceAll(name, string(filepath.Separator), "_")+filepath.Base(to))
			dir := filepath.Join(root, "flows")
			for _, d := range []string{dir, filepath.Join(root, "vendor"), filepath.Join(root, ".git")} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if to == "inside" {
				to = filepath.Join(root, "inside")
				if err := os.WriteFile(to, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
				t.Skip(err)
			}
			_, err := Go(dir)
			if told := err != nil && strings.Contains(err.Error(), "is a link out of the project"); told != (to == outside) {
				t.Errorf("%s, which leads to %s: %v", name, to, err)
			}
		}
	}
}
