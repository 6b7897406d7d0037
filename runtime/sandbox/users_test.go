//go:build linux && (amd64 || arm64)

package sandbox

import "testing"

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
