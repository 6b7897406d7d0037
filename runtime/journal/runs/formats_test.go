package runs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/internal/faultdisk"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// P7: a journal that another version of flowgen has written is refused as a whole. Its lines have the right sums.
func TestOtherVersions(t *testing.T) {
	const (
		id     = "w-20260102T150405000-9f3c"
		run    = `{"kind":"run","format":1,"workflow":"w","seed":"1","begin":"2026-01-02T15:04:05Z","graph":"g1"}`
		intent = `{"kind":"intent","key":"read","attempt":1,"tool":"w.read@1","effects":"reads","input":"a"}`
		end    = `{"kind":"end","key":"read","attempt":1,"output":"A"}`
		finish = `{"kind":"finish","outcome":"succeeded","output":"A"}`
	)
	for _, tt := range []struct {
		name  string
		lines []string
		want  string // "": it is read
	}{
		{"this version", []string{run, intent, end, finish}, ""},
		{"format 2", []string{strings.Replace(run, `"format":1`, `"format":2`, 1), intent, end}, "line 1 of the journal: the journal has format 2, this program reads 1"},
		{"no format", []string{strings.Replace(run, `"format":1,`, ``, 1)}, "line 1 of the journal: the journal has format 0"},
		{"an unknown field of the header", []string{strings.Replace(run, `"seed"`, `"color":"red","seed"`, 1), intent}, `line 1 of the journal: unknown field "color"`},
		{"an unknown kind", []string{run, `{"kind":"pause"}`, intent, end}, `line 2 of the journal: unknown kind of line "pause"`},
		{"an unknown field of an intent", []string{run, strings.Replace(intent, `"key"`, `"lane":3,"key"`, 1)}, `line 2 of the journal: unknown field "lane"`},
		{"an unknown field of an end", []string{run, intent, strings.Replace(end, `"key"`, `"lane":3,"key"`, 1)}, `line 3 of the journal: unknown field "lane"`},
		{"an unknown outcome", []string{run, strings.Replace(finish, "succeeded", "paused", 1)}, `line 2 of the journal: unknown outcome "paused"`},
		{"an unknown field of a finish", []string{run, strings.Replace(finish, `"outcome"`, `"lane":3,"outcome"`, 1)}, `line 2 of the journal: unknown field "lane"`},
		{"an unknown field of a resume", []string{run, `{"kind":"resume","at_ns":1,"lane":3}`}, `line 2 of the journal: unknown field "lane"`},
		{"an unknown field of an answer", []string{run, `{"kind":"answer","key":"a","answer":"b","lane":3,"at":"2026-01-02T15:04:05Z"}`}, `line 2 of the journal: unknown field "lane"`},
		{"no header", []string{intent, end}, `line 1 of the journal: the first line of a journal has the kind "run"`},
		{"two headers", []string{run, run}, "line 2 of the journal: a second header"},
		{"two ends", []string{run, intent, end, end}, "line 4 of the journal: a second record of read, attempt 1"},
		{"an intent behind its end", []string{run, intent, end, intent}, "line 4 of the journal: a second record of read, attempt 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			disk := faultdisk.New(1)
			log, _, err := wal.Open(disk, filepath.Join(runsDir, id, "journal.jsonl"), wal.Durable)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range tt.lines {
				if err := log.Append([]byte(line), true); err != nil {
					t.Fatal(err)
				}
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			folder := runs.Open(runsDir, runs.Options{Disk: disk})
			_, err = folder.Read(id)
			r, ferr := folder.Follow(id)
			if ferr == nil {
				ferr = r.All()
			}
			e, _, rerr := folder.Resume(info, id, runs.Continue{})
			if tt.want == "" {
				if err != nil || rerr != nil || ferr != nil {
					t.Fatal(err, rerr, ferr)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			for _, err := range []error{err, rerr, ferr} {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %s", err, tt.want)
				}
			}
			again, _, err := folder.Resume(info, id, runs.Continue{})
			if err == nil {
				t.Errorf("it goes on: %v", again.Close())
			} else if strings.Contains(err.Error(), wal.ErrLocked.Error()) {
				t.Error("a journal that was refused stays locked")
			}
		})
	}
}
