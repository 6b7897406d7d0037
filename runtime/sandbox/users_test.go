//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"testing"
)

// Thousands of processes in a row have users of their own.
func TestUsers(t *testing.T) {
	seen := map[int]bool{}
	for range users {
		uid := nextUser()
		if uid < firstUser || uid >= 65520 || seen[uid] {
			t.Fatalf("user %d, after %d others", uid, len(seen))
		}
		seen[uid] = true
	}
}

// Only folders of this user and of the users of root's tools are removed.
func TestOurs(t *testing.T) {
	root, self := os.Geteuid() == 0, uint32(os.Geteuid())
	for uid, want := range map[uint32]bool{self: true, firstUser - 1: false, firstUser: root, firstUser + users - 1: root, firstUser + users: false} {
		if got := ours(uid); got != want {
			t.Errorf("user %d: %v", uid, got)
		}
	}
}
