package straced

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJoin: what threads do is told of their program, whatever part of their beginning strace saw.
func TestJoin(t *testing.T) {
	const (
		start = `execve("/bin/a", ["a"], 0x7ffe /* 2 vars */) = 0` + "\n"
		open  = `openat(AT_FDCWD</x>, "f", O_RDONLY|O_CLOEXEC) = 3</x/f>` + "\n"
		ended = `clone(child_stack=0xc000, flags=CLONE_VM|CLONE_THREAD) = ?` + "\n" + "+++ exited with 0 +++\n"
	)
	a := Seen{Started: []string{"/bin/a"}, Opens: []Open{{"/bin/a", "/x/f", false}}}
	for _, c := range []struct {
		name string
		logs map[string]string
		want Seen
		lost []string
	}{
		{"own thread", map[string]string{"1": start + open}, a, nil},
		{"a later number", map[string]string{"1": start + "clone(flags=CLONE_VM) = 2\n", "2": open}, a, nil},
		{"an earlier number", map[string]string{"9": start + "clone3({flags=CLONE_VM} => {}, 88) = 2\n", "2": open}, a, nil},
		{"an end while it began", map[string]string{"1": start + ended, "2": open}, a, nil},
		{"unfinished", map[string]string{"1": start + "clone(flags=CLONE_VM <unfinished ...>\n", "2": open}, a, nil},
		{"nothing done", map[string]string{"1": start + open, "2": "", "3": "+++ killed by SIGKILL +++\n"}, a, nil},
		{"unknown", map[string]string{"1": start + open, "2": open}, a, []string{"2"}},
	} {
		seen, lost := join(c.logs)
		if diff := cmp.Diff(c.want, seen) + cmp.Diff(c.lost, lost); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}
