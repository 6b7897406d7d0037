//go:build linux

package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// A failure is what happens to a store while a run goes on.
type failure struct {
	store, name string
	says, help  string
	limit       string // of the shell, for the first program
	lost        bool   // there is nothing to go on with
	// set prepares the store and says where the runs are, what happens at the first write, and what mends it.
	set func(t *testing.T, h *history) (address string, happens, mend func())
}

// small is a file system of a megabyte, and what fills and empties it.
func small(t *testing.T) (dir string, fill, empty func()) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("flowgen", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("no file system can be mounted: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	filler := filepath.Join(dir, "filler")
	return dir, func() {
			f, err := os.Create(filler)
			for b := make([]byte, 4096); err == nil; {
				_, err = f.Write(b)
			}
			if !errors.Is(err, unix.ENOSPC) {
				t.Error(err)
			}
			_ = f.Close()
		}, func() {
			if err := os.Remove(filler); err != nil {
				t.Error(err)
			}
		}
}

// failures are what TestStoresThatFail does to stores. server is PostgreSQL's.
func failures(reader, server string) []failure {
	do := func(t *testing.T, statement string) {
		if out, err := exec.Command(reader, server, "do", statement).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	folder := func(h *history, dir string) string {
		h.folder, h.at, h.log = runs.Open(dir, runs.Options{}), dir, dir
		return dir
	}
	lite := func(h *history, dir string) string {
		h.in("sqlite://"+filepath.Join(dir, "runs.db")+"?lease=1s", &stored{exe: reader})
		return h.at
	}
	post := func(h *history) string {
		h.in(schema(server, h.seed), &stored{exe: reader, server: server, program: fmt.Sprint("h", h.seed)})
		return h.at
	}
	nothing := func() {}
	return []failure{
		{store: "folder", name: "limit", says: "the store is full", help: "make room", limit: "ulimit -f 12; ", set: func(t *testing.T, h *history) (string, func(), func()) {
			return folder(h, t.TempDir()), nothing, nothing
		}},
		{store: "folder", name: "full", says: "the store is full", help: "make room", set: func(t *testing.T, h *history) (string, func(), func()) {
			dir, fill, empty := small(t)
			return folder(h, dir), fill, empty
		}},
		{store: "folder", name: "gone", says: "the store is gone", help: "bring the store back", lost: true, set: func(t *testing.T, h *history) (string, func(), func()) {
			dir := t.TempDir()
			return folder(h, dir), func() {
				all, err := filepath.Glob(filepath.Join(dir, "*"))
				for _, name := range all {
					err = errors.Join(err, os.RemoveAll(name))
				}
				if err != nil {
					t.Error(err)
				}
			}, nothing
		}},
		{store: "sqlite", name: "full", says: "the store is full", help: "make room", set: func(t *testing.T, h *history) (string, func(), func()) {
			dir, fill, empty := small(t)
			return lite(h, dir), fill, empty
		}},
		{store: "sqlite", name: "gone", says: "the store is gone", help: "bring the store back", set: func(t *testing.T, h *history) (string, func(), func()) {
			dir := t.TempDir()
			at, away := filepath.Join(dir, "at"), filepath.Join(dir, "away")
			move := func(from, to string) func() {
				return func() {
					if err := os.Rename(from, to); err != nil {
						t.Error(err)
					}
				}
			}
			if err := os.Mkdir(at, 0o700); err != nil {
				t.Fatal(err)
			}
			return lite(h, at), move(at, away), move(away, at)
		}},
		{store: "postgres", name: "full", says: "the store is full", help: "make room", set: func(t *testing.T, h *history) (string, func(), func()) {
			in := fmt.Sprint("h", h.seed)
			do(t, strings.ReplaceAll(`CREATE TABLE h.flowgen_parts (name TEXT NOT NULL, place BIGINT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (name, place));
				CREATE TABLE h.filler (n INT);
				CREATE FUNCTION h.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					IF EXISTS (SELECT FROM h.filler) THEN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END IF;
					RETURN NEW; END $$;
				CREATE TRIGGER small BEFORE INSERT ON h.flowgen_parts FOR EACH ROW EXECUTE FUNCTION h.full()`, "h.", in+"."))
			return post(h), func() { do(t, "INSERT INTO "+in+".filler VALUES (1)") }, func() { do(t, "DELETE FROM "+in+".filler") }
		}},
		{store: "postgres", name: "gone", says: "the store is gone", help: "bring the store back", set: func(t *testing.T, h *history) (string, func(), func()) {
			p, address := between(t, server)
			post(h)
			return schema(address, h.seed) + "&application_name=" + fmt.Sprint("h", h.seed), func() {
				_ = p.Close()
				do(t, fmt.Sprintf("SELECT PG_TERMINATE_BACKEND(pid) FROM pg_stat_activity WHERE application_name = 'h%d'", h.seed))
			}, nothing
		}},
	}
}

// between puts a proxy in front of a server, and returns the URL with it.
func between(t *testing.T, server string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	p := newProxy(t, filepath.Join(q.Get("host"), ".s.PGSQL.5432"))
	q.Set("host", filepath.Dir(p.Addr().String()))
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return p, u.String()
}

// begin runs a program from its beginning to its own end; at its first write something happens.
func (h *history) begin(t *testing.T, limit, address string, happens func()) (stderr string, code int) {
	t.Helper()
	var once sync.Once
	h.world.meet(func(at string) {
		if strings.HasPrefix(at, "book-") {
			once.Do(happens)
		}
	})
	defer h.world.meet(nil)
	input, err := json.Marshal(map[string]any{"port": h.world.port(), "items": h.items})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", limit+`exec "$0" "$@"`, h.exe, "run", "--runs", address, "--input-json", "-")
	cmd.Stdin = bytes.NewReader(input)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	h.world.settle()
	return complaints.String(), cmd.ProcessState.ExitCode()
}

// TestStoresThatFail: a store that becomes full or goes away ends the run before its next write, with what to do. When that is done the run
// goes on: nothing is lost, and nothing is done twice.
func TestStoresThatFail(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe, reader := program(t, ledger, "--stores", "postgres,sqlite"), reader(t)
	for i, f := range failures(reader, postgres(t, reader)) {
		t.Run(f.store+" "+f.name, func(t *testing.T) {
			h, err := newHistory("", exe, uint64(failing+i), "effect")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(h.world.close)
			h.items = []string{"0", "1", "2", "3", "4", "5", "6", "7"} // so much that a last free page does not do
			address, happens, mend := f.set(t, h)
			stderr, code := h.begin(t, f.limit, address, happens)
			mend()
			for _, want := range []string{"journal_unavailable", f.says, f.help, "resume"} {
				if !strings.Contains(stderr, want) {
					t.Errorf("exit %d, without %q:\n%s", code, want, stderr)
				}
			}
			if code != 3 {
				t.Errorf("exit %d", code)
			}
			if f.lost {
				if done := h.world.effects(); len(done) != 1 {
					t.Errorf("it goes on to write, and nobody knows of it: %v", done)
				}
				return
			}
			if s, ok := h.disk.(*stored); ok {
				if _, err := s.left(); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.look(true); err != nil {
				t.Fatal(err)
			}
			if err := h.goOn(0); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReadOnlyStores: verbs that would write into a store that can only be read say so, and what to do, and nothing is called.
func TestReadOnlyStores(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe, reader := program(t, ledger, "--stores", "postgres,sqlite"), reader(t)
	server := postgres(t, reader)
	for i, tt := range []struct{ store, says string }{
		{"folder", "the store cannot be written"}, {"sqlite", "the store cannot be written"}, {"postgres", "the store cannot be written"},
	} {
		t.Run(tt.store, func(t *testing.T) {
			h, err := newHistory("", exe, uint64(readonly+i), "effect")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(h.world.close)
			dir := t.TempDir()
			h.folder, h.at, h.log = runs.Open(dir, runs.Options{}), dir, dir
			switch tt.store {
			case "sqlite":
				h.in("sqlite://"+filepath.Join(dir, "runs.db")+"?lease=1s", &stored{exe: reader})
			case "postgres":
				h.in(schema(server, h.seed), &stored{exe: reader, server: server, program: fmt.Sprint("h", h.seed)})
			}
			late{h, t}.kill()
			address, mend := readOnly(t, h.at, dir)
			before := h.world.requests()
			for _, args := range [][]string{
				{"resume", h.id},
				{"run", "--input", fmt.Sprint("port=", h.world.port()), "--input", "items=[]"},
			} {
				out, err := exec.Command(exe, append(args, "--runs", address)...).CombinedOutput()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() < 2 || !bytes.Contains(out, []byte("help: ")) || !bytes.Contains(out, []byte(tt.says)) {
					t.Errorf("%s: %v\n%s", args[0], err, out)
				}
			}
			mend()
			if after := h.world.requests(); len(after) != len(before) {
				t.Errorf("it was asked for %v, before for %v", after, before)
			}
			if err := h.goOn(0); err != nil {
				t.Error(err)
			}
		})
	}
}

// kill has a program that is killed at its first write.
func (l late) kill() {
	l.t.Helper()
	reached := make(chan struct{})
	var once sync.Once
	l.world.meet(func(at string) {
		if strings.HasPrefix(at, "book-") {
			once.Do(func() { close(reached) })
		}
	})
	defer l.world.meet(nil)
	input, err := json.Marshal(map[string]any{"port": l.world.port(), "items": l.items})
	if err != nil {
		l.t.Fatal(err)
	}
	cmd := exec.Command(l.exe, "run", "--quiet", "--runs", l.at, "--input-json", "-")
	cmd.Stdin = bytes.NewReader(input)
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	<-reached
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	l.world.settle()
	if s, ok := l.disk.(*stored); ok {
		if _, err := s.left(); err != nil {
			l.t.Fatal(err)
		}
	}
	if err := l.look(true); err != nil {
		l.t.Fatal(err)
	}
}

// readOnly makes a store one that can only be read: by the session of a server, by a mount for root, whom no permissions keep away, and by
// permissions for others.
func readOnly(t *testing.T, address, dir string) (at string, mend func()) {
	t.Helper()
	if strings.HasPrefix(address, "postgres://") {
		return address + "&default_transaction_read_only=on", func() {}
	}
	if os.Getuid() == 0 {
		err := unix.Mount(dir, dir, "", unix.MS_BIND, "")
		if err != nil {
			t.Skip("no file system can be mounted: ", err)
		}
		mend = sync.OnceFunc(func() { err = unix.Unmount(dir, unix.MNT_DETACH) })
		t.Cleanup(mend)
		if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		return address, mend
	}
	set := func(dirs, files os.FileMode) {
		err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.Chmod(name, dirs)
			}
			return os.Chmod(name, files)
		})
		if err != nil {
			t.Error(err)
		}
	}
	set(0o500, 0o400)
	mend = sync.OnceFunc(func() { set(0o700, 0o600) })
	t.Cleanup(mend)
	return address, mend
}
