//go:build unix

package wasmtool

import (
	"os"
	"syscall"
)

// private reports whether only this user, and root, can write to a folder that no link leads to.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
