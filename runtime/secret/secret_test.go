package secret

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOrder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/ws/.env", "B=ws-b\nC=ws-c\nE=\n")
	write(t, dir+"/org/C", "org-c\n")
	write(t, dir+"/org/D", "org-d\r\n")
	write(t, dir+"/org/E", "org-e")
	write(t, dir+"/org/acme/B", "acme-b")
	write(t, dir+"/user/acme/A", "acme-a")
	write(t, dir+"/user/other/A", "other-a")
	t.Setenv("TEST_SECRET_A", "env-a")
	t.Setenv("TEST_SECRET_B", "env-b")
	r := &Resolver{User: []Source{Env("TEST_SECRET_"), Dir(dir + "/user")}, Workspace: []Source{File(dir + "/ws/.env")}, Org: []Source{Dir(dir + "/org"), Dir(dir + "/none")}}
	all := runtime.Owners()
	tests := []struct {
		name, tenant string
		owners       []runtime.Owner
		want         string
		of           runtime.Owner
	}{
		{"A", "", all, "env-a", runtime.User},
		{"B", "", all, "env-b", runtime.User},
		{"B", "", []runtime.Owner{runtime.Workspace, runtime.Org}, "ws-b", runtime.Workspace},
		{"B", "", []runtime.Owner{runtime.Org, runtime.Workspace}, "ws-b", runtime.Workspace}, // the order is not the caller's
		{"C", "", all, "ws-c", runtime.Workspace},
		{"C", "", []runtime.Owner{runtime.User, runtime.Org}, "org-c", runtime.Org},
		{"D", "", all, "org-d", runtime.Org},
		{"D", "", []runtime.Owner{runtime.User, runtime.Workspace}, "", ""},
		{"E", "", all, "org-e", runtime.Org}, // an empty value is none
		{"F", "", all, "", ""},
		{"A", "acme", all, "acme-a", runtime.User},
		{"A", "other", all, "other-a", runtime.User},
		{"A", "third", all, "env-a", runtime.Org}, // that of the program belongs to nobody in particular
		{"A", "third", []runtime.Owner{runtime.User, runtime.Workspace}, "", ""},
		{"B", "acme", all, "acme-b", runtime.Org},
		{"C", "acme", all, "ws-c", runtime.Org},
		{"A", "../other", all, "env-a", runtime.Org},
		{"A", "acme/../other", []runtime.Owner{runtime.User}, "", ""},
	}
	for _, tt := range tests {
		v, of, ok := r.Lookup(runtime.SecretQuery{Name: tt.name, Tenant: tt.tenant, Owners: tt.owners})
		if v != tt.want || of != tt.of || ok != (tt.want != "") {
			t.Errorf("%s of %q from %v: %q of %q, %v; want %q of %q", tt.name, tt.tenant, tt.owners, v, of, ok, tt.want, tt.of)
		}
	}
	if _, _, ok := r.Lookup(runtime.SecretQuery{Name: "F", Owners: all, Starting: true}); !ok {
		t.Error("a secret that a tenant may have keeps the program from starting")
	}
	if _, _, ok := Default().Lookup(runtime.SecretQuery{Name: "NO_SUCH_SECRET", Owners: all, Starting: true}); ok {
		t.Error("a secret that nobody has is found")
	}
}

func TestParse(t *testing.T) {
	text := "\ufeff# comment\nA=1\n\n export B = two words # comment\nC='single $A \\n'\r\nD=\"line\\n\\\"two\\\" \\\\ \\q $A\"  # c\nE=\nF=a#b\nG=\"over\nlines\"\nH='x'\n_i9=a=b"
	got, err := Parse(text)
	want := map[string]string{"A": "1", "B": "two words", "C": "single $A \\n", "D": "line\n\"two\" \\ \\q $A", "E": "", "F": "a#b", "G": "over\nlines", "H": "x", "_i9": "a=b"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"A":                    "line 1 is not NAME=VALUE",
		"\n=x":                 "line 2 is not NAME=VALUE",
		"A B=x":                "line 1 is not NAME=VALUE",
		"1A=canary":            "line 1 is not NAME=VALUE",
		"A=canary\nA=2":        "line 2 sets A again",
		"A=\"canary":           "line 1: the value of A has no closing quote",
		"A=1\nB='canary'x":     "line 2: the value of B goes on after its closing quote",
		"A=\"1\n2\"\n\ncanary": "line 4 is not NAME=VALUE",
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("A=1\nB=\"2\"\n")
	f.Add("export A='x\ny'")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := Parse(text)
		if err != nil {
			return
		}
		var again strings.Builder // quoted values survive
		for name, v := range values {
			fmt.Fprintf(&again, "%s=\"%s\"\n", name, strings.NewReplacer("\\", `\\`, "\"", `\"`, "\n", `\n`, "\r", `\r`).Replace(v))
		}
		got, err := Parse(again.String())
		if diff := cmp.Diff(values, got); err != nil || diff != "" {
			t.Fatalf("%q: %v\n%s", again.String(), err, diff)
		}
	})
}

func TestFileChanges(t *testing.T) {
	path := t.TempDir() + "/.env"
	f := File(path).(*file)
	get := func() string {
		f.checked = time.Time{}
		v, _ := f.Secret("", "A")
		return v
	}
	if v := get(); v != "" {
		t.Errorf("a missing file has %q", v)
	}
	for _, text := range []string{"A=first", "A=second", "broken", "A=third", ""} {
		write(t, path, text)
		_ = os.Chtimes(path, time.Now(), time.Now().Add(time.Duration(len(text))*time.Hour))
		want := ""
		if strings.HasPrefix(text, "A=") {
			want = text[2:]
		}
		if v := get(); v != want {
			t.Errorf("%q has %q", text, v)
		}
	}
	write(t, path, "A=x\n#"+strings.Repeat("x", maxFile))
	if v := get(); v != "" {
		t.Errorf("a file that is too large has %q", v)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if v := get(); v != "" {
		t.Errorf("a removed file has %q", v)
	}
}

// Ways out of the directory, and files that would not end.
func TestDirIsClosed(t *testing.T) {
	base := t.TempDir()
	dir := base + "/secrets"
	write(t, base+"/outside", "outside")
	write(t, base+"/other/A", "outside")
	write(t, dir+"/..data/A", "mounted")
	write(t, dir+"/huge", strings.Repeat("x", maxFile+1))
	write(t, dir+"/acme/B", "acme-b")
	for link, to := range map[string]string{"/link": "../outside", "/abs": base + "/outside", "/A": "..data/A", "/tenant": "../other", "/loop": "loop"} {
		if err := os.Symlink(to, dir+link); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(dir+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	d := Dir(dir)
	if v, ok := d.Secret("", "A"); !ok || v != "mounted" { // as Kubernetes mounts them
		t.Errorf("A is %q, %v", v, ok)
	}
	for _, name := range []string{"link", "abs", "loop", "pipe", "huge", "acme", "..", ".", "", "../outside", "..data/A", ".hidden", "acme/B", "a\x00", "A ", base + "/outside", strings.Repeat("a", 300), "..\\outside"} {
		if v, ok := d.Secret("", name); ok {
			t.Errorf("%q is %q", name, v)
		}
	}
	for _, tenant := range []string{"tenant", "..", "../other", "acme/..", ".", "..data", "acme/../acme", "ACME ", "link"} {
		for _, name := range []string{"A", "B"} {
			if v, ok := d.Secret(tenant, name); ok {
				t.Errorf("%q of %q is %q", name, tenant, v)
			}
		}
	}
}
