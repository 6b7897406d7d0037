package bind

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Go file outside of the project, of its packages and of the go command is not read, whatever a declaration says where it is.
func TestLineComments(t *testing.T) {
	outside := inFolder(t, map[string]string{"secret.go": "package t\n\n// Do canary 7f3ad1c9.\nfunc Do(in In) string { return \"\" }\n\n// In is canary 7f3ad1c9.\ntype In struct {\n\t// canary 7f3ad1c9\n\tQuery string `json:\"query\"`\n}\n"})
	secret := filepath.Join(outside, "secret.go")
	for _, place := range []string{secret, "../link.go", strings.Repeat("../", 12) + strings.TrimPrefix(secret, "/")} {
		dir := inFolder(t, map[string]string{"go.mod": "module example.com/app\n\ngo 1.24\n",
			"t/t.go": "package t\n\n//line " + place + ":7\ntype In struct {\n\tQuery string `json:\"query\"`\n}\n\n//line " + place + ":3\n\nfunc Do(in In) string { return \"\" }\n"})
		if err := os.Symlink(secret, filepath.Join(dir, "link.go")); err != nil {
			t.Fatal(err)
		}
		s := tools("./t.Do")
		said := strings.Join(show(s.resolveWith(t, Options{Dir: dir})), "\n")
		if b := s.bind(0); b != nil {
			said += describeBinding(b) + b.Doc + fmt.Sprintf("%+v", b.In)
		}
		if strings.Contains(said, "7f3ad1c9") {
			t.Errorf("%s was read: %s", place, said)
		}
	}
}
