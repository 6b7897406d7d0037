package wal_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/journal/internal/faultdisk"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

func line(i int) string { return fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("x", i*7%40)) }

func texts(r *wal.Recovered) []string {
	out := []string{}
	for _, l := range r.Lines {
		out = append(out, string(l))
	}
	return out
}

func TestAppendAndRecover(t *testing.T) {
	for _, mode := range []wal.Sync{wal.Off, wal.Buffered, wal.Durable} {
		name := filepath.Join(t.TempDir(), "journal.jsonl")
		var want []string
		for round := range 3 { // each goes on where the one before has ended
			l, found, err := wal.Open(wal.OS, name, mode)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append([]string{}, want...), texts(found)); diff != "" {
				t.Fatalf("mode %d, round %d (-want +got):\n%s", mode, round, diff)
			}
			for i := range 40 {
				s := line(round*40 + i)
				if i == 7 {
					s = "{}"
				}
				if err := l.Append([]byte(s), i%3 == 0); err != nil {
					t.Fatal(err)
				}
				want = append(want, s)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := wal.Recover(bytes.Clone(data)); err != nil || r.Torn != 0 || !cmp.Equal(want, texts(r)) {
			t.Errorf("mode %d: %v, torn %d", mode, err, r.Torn)
		}
		if got := bytes.Contains(data, []byte(`"sync":`)); got != (mode == wal.Durable) {
			t.Errorf("mode %d: says what is on the disk: %v", mode, got)
		}
	}
}

func TestWrongLines(t *testing.T) {
	l, _, err := wal.Open(faultdisk.New(1), "j", wal.Durable)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"", "[]", "{\"a\":\n1}", `{"sync":3}`, `{"a":1,"sync":3}`} {
		if err := l.Append([]byte(s), true); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
	if err := l.Append(append(append([]byte(`{"a":"`), bytes.Repeat([]byte("x"), 64<<20)...), `"}`...), true); !errors.Is(err, wal.ErrTooLong) {
		t.Errorf("a line that is too long: %v", err)
	}
	if err := l.Append([]byte(`{"a":"\u0000","sync":"3"}`), true); err != nil {
		t.Errorf("the log is not usable after a refused line: %v", err)
	}
}

// A small log with lines of all kinds, synced and not.
func sample(t testing.TB) ([]byte, []string) {
	t.Helper()
	d := faultdisk.New(1)
	l, _, err := wal.Open(d, "j", wal.Durable)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 24 {
		s := line(i)
		if err := l.Append([]byte(s), i%5 == 4 && i < 20); err != nil {
			t.Fatal(err)
		}
		want = append(want, s)
	}
	data, err := d.ReadFile("j")
	if err != nil {
		t.Fatal(err)
	}
	return data, want
}

// P5: of every prefix exactly the whole lines come back, or, when what is missing was on the disk, an error.
func TestEveryPrefix(t *testing.T) {
	data, want := sample(t)
	for n := range len(data) + 1 {
		r, err := wal.Recover(bytes.Clone(data[:n]))
		whole := bytes.Count(data[:n], []byte("\n"))
		if len(r.Lines) != whole || !cmp.Equal(append([]string{}, want[:whole]...), texts(r)) {
			t.Fatalf("prefix of %d bytes: %d lines, %d are whole", n, len(r.Lines), whole)
		}
		if err != nil {
			t.Fatalf("prefix of %d bytes: %v", n, err)
		}
		if int(r.Good+r.Torn) != n {
			t.Fatalf("prefix of %d bytes: %d good, %d torn", n, r.Good, r.Torn)
		}
	}
	t.Logf("%d prefixes", len(data)+1)
}

// P5: no flipped bit makes a line that was not appended, and none that was is lost in silence.
func TestEveryBitFlip(t *testing.T) {
	data, want := sample(t)
	damaged, torn := 0, 0
	for i := range len(data) * 8 {
		bad := bytes.Clone(data)
		bad[i/8] ^= 1 << (i % 8)
		r, err := wal.Recover(bytes.Clone(bad))
		if got := texts(r); !cmp.Equal(want[:len(got)], got) {
			t.Fatalf("bit %d of byte %d: a line that was not appended", i%8, i/8)
		}
		var de *wal.DamagedError
		switch {
		case errors.As(err, &de):
			damaged++
			if at := bytes.LastIndexByte(data[:i/8], '\n') + 1; de.Offset > int64(at) {
				t.Fatalf("bit %d of byte %d: %v", i%8, i/8, err)
			}
		case err == nil && r.Torn > 0:
			torn++ // behind what was known to be on the disk, and like what a crash leaves
		default:
			t.Fatalf("bit %d of byte %d: not noticed: %v", i%8, i/8, err)
		}
	}
	if damaged == 0 || torn*100 > damaged {
		t.Errorf("%d damaged, %d torn", damaged, torn)
	}
	t.Logf("%d flips, %d reported as damage, %d cut off as torn", len(data)*8, damaged, torn)
}

func TestRandomDamage(t *testing.T) {
	data, want := sample(t)
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 100_000
	if testing.Short() {
		rounds = 10_000
	}
	for range rounds {
		bad := bytes.Clone(data)
		for range 1 + r.IntN(6) {
			bad[r.IntN(len(bad))] = byte(r.Uint32())
		}
		if bytes.Equal(bad, data) {
			continue
		}
		found, err := wal.Recover(bytes.Clone(bad))
		if got := texts(found); !cmp.Equal(want[:len(got)], got) {
			t.Fatal("a line that was not appended")
		}
		if err == nil && found.Torn == 0 {
			t.Fatal("damage was not noticed")
		}
	}
	t.Logf("%d damaged logs", rounds)
}

// P4: whatever a crash leaves of what was not synced, every line that was promised is there, lines are those that were
// appended, in their order, and the log goes on.
func TestPowerLoss(t *testing.T) {
	seeds := 10_000
	if testing.Short() {
		seeds = 1000
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		d := faultdisk.New(uint64(seed))
		var all []string
		promised := 0
		for life := range 3 {
			d.CrashAt = 1 + r.IntN(60)
			l, found, err := wal.Open(d, "j", wal.Durable)
			if err == nil || found != nil {
				got := texts(found)
				if len(got) < promised || len(got) > len(all) || !cmp.Equal(append([]string{}, all[:len(got)]...), got) {
					t.Fatalf("seed %d, life %d: %d lines came back, %d were promised, %d appended (%v)", seed, life, len(got), promised, len(all), err)
				}
				all, promised = got, len(got)
			}
			var de *wal.DamagedError
			if errors.As(err, &de) {
				t.Fatalf("seed %d, life %d: a crash looks like damage: %v", seed, life, err)
			}
			if err != nil { // crashed while opening; what was read before may not be on the disk
				promised = 0
				d = d.Restart()
				d.CrashAt = 0
				_, again, err := wal.Open(d, "j", wal.Durable)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				all, promised = texts(again), len(again.Lines)
				d = d.Restart()
				continue
			}
			for i := range 30 {
				durable := r.IntN(3) == 0
				s := line(life*100 + i)
				all = append(all, s)
				if err := l.Append([]byte(s), durable); err != nil {
					break
				}
				if durable {
					promised = len(all)
				}
			}
			d = d.Restart()
		}
	}
	t.Logf("%d histories of three lives", seeds)
}

// P3, P6: whichever operation fails, nothing is promised any more after it, and all that was promised is found again.
func TestEveryOperationFails(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		for at := 1; ; at++ {
			d := faultdisk.New(uint64(at))
			d.FailAt, d.Fail = at, cause
			l, _, err := wal.Open(d, "j", wal.Durable)
			promised, failed := 0, err != nil
			var all []string
			if err == nil {
				for i := range 20 {
					all = append(all, line(i))
					err := l.Append([]byte(line(i)), i%2 == 0)
					if failed && err == nil {
						t.Fatalf("operation %d failed, and the log goes on", at)
					}
					failed = failed || err != nil
					if err != nil && !errors.Is(err, cause) {
						t.Fatalf("operation %d: %v", at, err)
					}
					if err == nil && i%2 == 0 {
						promised = len(all)
					}
				}
				_ = l.Close()
			}
			if at > d.Ops() {
				if failed {
					t.Fatal("it failed without a reason")
				}
				t.Logf("%d operations failed with %v", at-1, cause)
				break
			}
			d.FailAt = 0
			d = d.Restart()
			_, found, err := wal.Open(d, "j", wal.Durable)
			if err != nil {
				t.Fatalf("after operation %d: %v", at, err)
			}
			if got := texts(found); len(got) < promised || !cmp.Equal(append([]string{}, all[:len(got)]...), got) {
				t.Fatalf("after operation %d: %d lines, %d were promised", at, len(got), promised)
			}
		}
	}
}

// P6: a full disk, at every byte.
func TestDiskFull(t *testing.T) {
	whole, _ := sample(t)
	for space := 1; space <= len(whole); space += 3 {
		d := faultdisk.New(uint64(space))
		d.Space = space
		l, _, err := wal.Open(d, "j", wal.Durable)
		if err != nil {
			t.Fatal(err)
		}
		promised := 0
		for i := range 24 {
			if err := l.Append([]byte(line(i)), true); err != nil {
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatal(err)
				}
				break
			}
			promised++
		}
		_ = l.Close()
		d = d.Restart()
		l, found, err := wal.Open(d, "j", wal.Durable)
		if err != nil || len(found.Lines) != promised {
			t.Fatalf("%d bytes: %d lines of %d, %v", space, len(found.Lines), promised, err)
		}
		if err := l.Append([]byte(line(99)), true); err != nil {
			t.Fatalf("%d bytes: after space came back: %v", space, err)
		}
	}
}

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal.jsonl")
	l, _, err := wal.Open(wal.OS, name, wal.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if _, _, err := wal.Open(wal.OS, name, wal.Buffered); !errors.Is(err, wal.ErrLocked) {
		t.Errorf("a second one: %v", err)
	}
	t.Logf("refused in %v", time.Since(begin))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, _, err = wal.Open(wal.OS, name, wal.Buffered)
	if err != nil {
		t.Fatalf("after the first: %v", err)
	}
	_ = l.Close()
}

// Concurrent durable lines share syncs: what is written while one goes on needs one more.
func TestGroupCommit(t *testing.T) {
	const writers, rounds = 64, 10
	d := faultdisk.New(1)
	l, _, err := wal.Open(d, "j", wal.Durable)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rounds {
		var all, wg sync.WaitGroup
		syncs := 0
		d.Observe = func(op string) {
			switch op {
			case "write":
				all.Done()
			case "sync":
				syncs++
				all.Wait()
			}
		}
		all.Add(writers)
		for j := range writers {
			wg.Go(func() {
				if err := l.Append([]byte(line(i*writers+j)), true); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if syncs > 2 {
			t.Errorf("%d durable lines took %d syncs", writers, syncs)
		}
	}
	d.Observe = nil
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := d.ReadFile("j")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := wal.Recover(bytes.Clone(data)); err != nil || len(r.Lines) != writers*rounds {
		t.Errorf("%d lines, %v", len(r.Lines), err)
	}
}

func FuzzRecover(f *testing.F) {
	f.Add([]byte("{\"sum\":\"00000000\"}\n"))
	f.Add([]byte("{\"a\":1,\"sync\":10,\"sum\":\"00000000\"}\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := wal.Recover(bytes.Clone(data))
		if err == nil && int(r.Good+r.Torn) != len(data) || int(r.Good) > len(data) {
			t.Fatalf("%d good, %d torn, %d in all, %v", r.Good, r.Torn, len(data), err)
		}
		for _, l := range r.Lines {
			if l[0] != '{' && len(l) > 0 && l[len(l)-1] != '}' {
				t.Fatalf("%q", l)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	l, _, err := wal.Open(wal.OS, filepath.Join(b.TempDir(), "j"), wal.Buffered)
	if err != nil {
		b.Fatal(err)
	}
	data := []byte(`{"kind":"end","key":"probe[3]/search","tool":"acme.search@1","input":{"q":"something to look for"},"output":{"hits":[1,2,3]},"t":123456789}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Append(data, true); err != nil {
			b.Fatal(err)
		}
	}
	_ = l.Close()
}
