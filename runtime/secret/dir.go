package secret

import (
	"os"
	"path"
	"strings"
)

// Dir is a directory with one file for each secret, as container platforms
// mount them: DIR/NAME holds the secret, but for one line break at its end. The
// secrets of a tenant are in DIR/TENANT/NAME. Names and tenants are letters,
// digits, '_', '-' and '.', not beginning with '.', so that none leads out of
// the directory; links that do are not followed. Files are read for every
// lookup: what is mounted may change.
func Dir(dir string) Source { return directory(dir) }

type directory string

// Tenants reports that there may be secrets of tenants.
func (d directory) Tenants() bool {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.IsDir() && isFile(e.Name()) {
			return true
		}
	}
	return false
}

func (d directory) Secret(tenant, name string) (string, bool) {
	if !isFile(name) || tenant != "" && !isFile(tenant) {
		return "", false
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return "", false
	}
	defer root.Close()
	file := path.Join(tenant, name)
	if info, err := root.Stat(file); err != nil || !info.Mode().IsRegular() { // opening a pipe would wait
		return "", false
	}
	in, err := root.Open(file)
	if err != nil {
		return "", false
	}
	defer in.Close()
	data, err := readAll(in)
	if err != nil {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), true
}

func isFile(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c == '-' || c == '.' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			return false
		}
	}
	return s != "" && s[0] != '.' && len(s) <= 200
}
