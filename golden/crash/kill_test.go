//go:build unix

// Package crash holds the campaigns against recorded runs of generated programs: processes that are killed, stopped and
// started twice. Each has a small form in the ordinary test run and a full one, a target of make. docs/journal.md lists
// them.
package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// figure is a number from the environment, as targets of make give it, or that of the ordinary test run.
func figure(t *testing.T, name string, ordinary int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return ordinary
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is not a number", name, text)
	}
	return n
}

// program is a generated program, built once for all tests.
func program(t *testing.T, workflow string, flags ...string) string {
	t.Helper()
	exe, err := build(workflow, flags...)
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

var (
	binaries string // a folder for all of them
	building sync.Mutex
	built    = map[string]string{}
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binaries = dir
	code := m.Run()
	stopServer()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func build(workflow string, flags ...string) (string, error) {
	building.Lock()
	defer building.Unlock()
	if exe := built[workflow+strings.Join(flags, " ")]; exe != "" {
		return exe, nil
	}
	flowgen := filepath.Join(binaries, "flowgen")
	if _, err := os.Stat(flowgen); err != nil {
		if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", flowgen, "../../cmd/flowgen").CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
	}
	exe := filepath.Join(binaries, strings.TrimSuffix(filepath.Base(workflow), ".flowgen.yaml")+strings.Join(flags, ""))
	cmd := exec.Command(flowgen, append([]string{"build", workflow, "-o", exe}, flags...)...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(binaries, "cache"), "GOCACHE="+goEnv("GOCACHE"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", workflow, err, out)
	}
	built[workflow+strings.Join(flags, " ")] = exe
	return exe, nil
}

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// A history is one run of the workflow ledger from its beginning to its success, with every death on the way.
type history struct {
	seed   uint64
	exe    string
	folder *runs.Folder
	at     string // its name for the program
	disk   wal.Disk
	log    string // begins the names of logs on the disk
	behind bool   // lines of calls without effects are written behind the calls
	rand   *rand.Rand
	world  *world
	sync   string
	items  []string
	gently bool // it is asked to stop, sometimes twice, and not killed

	id     string
	last   *journal.Journal // as the process before has left it; nil: nothing is recorded
	counts map[string]int   // requests for each place then
	given  map[string]string

	told  atomic.Int64 // when it was asked to stop, in nanoseconds; 0: it was not
	twice bool
	stops []time.Duration // how long it took to stop

	tally tally
}

// tally is what a campaign has seen.
type tally struct {
	kills, runs, resumes, unbegun, named, again, done, keyed int
	leased                                                   int // lives in which the lease of a dead one was not over
	late                                                     int // deaths that a server had not noticed at once
}

func (t *tally) add(o tally) {
	t.kills += o.kills
	t.runs += o.runs
	t.resumes += o.resumes
	t.unbegun += o.unbegun
	t.named += o.named
	t.again += o.again
	t.done += o.done
	t.keyed += o.keyed
	t.leased += o.leased
	t.late += o.late
}

func (t tally) String() string {
	return fmt.Sprintf("%d kills in %d runs, %d times resumed, %d died before they began; %d calls in doubt reported, %d of them made again and %d taken as done; %d repeated by their key",
		t.kills, t.runs, t.resumes, t.unbegun, t.named, t.again, t.done, t.keyed)
}

func newHistory(dir, exe string, seed uint64, sync string) (*history, error) {
	h := &history{seed: seed, exe: exe, folder: runs.Open(dir, runs.Options{}), at: dir, disk: wal.OS, log: dir, rand: rand.New(rand.NewPCG(seed, 6)), sync: sync, counts: map[string]int{}}
	for i := range 2 + h.rand.IntN(5) {
		h.items = append(h.items, fmt.Sprint(i))
	}
	w, err := newWorld(seed)
	h.world = w
	return h, err
}

// play kills the program again and again until it succeeds all the same.
func (h *history) play() error {
	defer h.world.close()
	return h.goOn(1 + h.rand.IntN(24))
}

// goOn goes on with the program until it succeeds; it is killed a number of times before.
func (h *history) goOn(kills int) error {
	for life := 0; ; life++ {
		if life > 200 {
			return errors.New("the run does not come to an end")
		}
		stdout, stderr, state, err := h.live(life < kills)
		if err != nil {
			return err
		}
		killed := state.Sys().(syscall.WaitStatus).Signaled() || h.gently && state.ExitCode() == 128+int(syscall.SIGTERM)
		if err := h.look(killed); err != nil {
			return fmt.Errorf("life %d: %w\n%s", life, err, stderr)
		}
		switch {
		case killed:
			h.tally.kills++
			if err := h.stopped(state); err != nil {
				return fmt.Errorf("life %d: %w\n%s", life, err, stderr)
			}
		case state.ExitCode() == 0:
			h.tally.runs++
			return h.end(stdout)
		case h.behind && bytes.Contains(stderr, []byte("another process is using this run; if that process has died, the lease expires in")):
			h.tally.leased++
			life--
		default:
			if err := h.doubt(stderr); err != nil {
				return fmt.Errorf("life %d: exit %d: %w\n%s", life, state.ExitCode(), err, stderr)
			}
		}
	}
}

// live starts the program, or goes on with what it has begun, and kills it at some moment.
func (h *history) live(kill bool) (stdout, stderr []byte, state *os.ProcessState, err error) {
	args := []string{"resume", h.id, "--quiet", "--runs", h.at}
	if h.last == nil {
		input, err := json.Marshal(map[string]any{"port": h.world.port(), "items": h.items})
		if err != nil {
			return nil, nil, nil, err
		}
		args = []string{"run", "--quiet", "--runs", h.at, "--sync", h.sync, "--input-json", "-"}
		return h.start(args, input, kill)
	}
	h.tally.resumes++
	for key, what := range h.given {
		args = append(args, "--in-doubt", key+"="+what)
	}
	return h.start(args, nil, kill)
}

func (h *history) start(args []string, input []byte, kill bool) (stdout, stderr []byte, state *os.ProcessState, err error) {
	cmd := exec.Command(h.exe, args...)
	cmd.Stdin = bytes.NewReader(input)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	started := make(chan struct{}) // the program can ask the world for something before Start returns
	if kill {
		h.twice = h.rand.IntN(4) == 0
		h.world.arm(h.rand.IntN(12), func() {
			if <-started; cmd.Process != nil {
				h.stop(cmd.Process)
			}
		})
	}
	h.told.Store(0)
	err = cmd.Start()
	close(started)
	if err != nil {
		return nil, nil, nil, err
	}
	var timer *time.Timer
	if kill && h.rand.IntN(2) == 0 {
		h.world.disarm()
		timer = time.AfterFunc(time.Duration(h.rand.Int64N(int64(50*time.Millisecond))), func() { h.stop(cmd.Process) })
	}
	err = cmd.Wait()
	if told := h.told.Load(); told != 0 {
		h.stops = append(h.stops, time.Since(time.Unix(0, told)))
	}
	if timer != nil {
		timer.Stop()
	}
	h.world.disarm()
	h.world.settle()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, nil, nil, err
	}
	if s, ok := h.disk.(*stored); ok {
		late, err := s.left()
		if err != nil {
			return nil, nil, nil, err
		}
		if late {
			h.tally.late++
		}
	}
	return out.Bytes(), complaints.Bytes(), cmd.ProcessState, nil
}

// stop kills the program, or asks it to stop.
func (h *history) stop(p *os.Process) {
	if !h.gently {
		_ = p.Kill()
		return
	}
	h.told.Store(time.Now().UnixNano())
	_ = p.Signal(syscall.SIGTERM)
	if h.twice {
		_ = p.Signal(syscall.SIGTERM)
	}
}

// stopped looks at a run that was asked to stop: its journal says so, unless it was asked twice.
func (h *history) stopped(state *os.ProcessState) error {
	if !h.gently || h.last == nil || state.ExitCode() < 0 {
		return nil
	}
	if end := h.last.Finish(); end.Outcome != journal.Cancelled {
		return fmt.Errorf("the run was stopped, and its journal says %+v", end)
	}
	return nil
}

// look compares what is in the journal with what was there before, and with what the world has seen.
func (h *history) look(killed bool) error {
	requests := h.world.requests()
	if h.id == "" {
		list, err := h.folder.List()
		if err != nil {
			return err
		}
		if len(list) == 0 {
			h.tally.unbegun++
			if h.behind {
				maps.DeleteFunc(requests, func(at string, _ int) bool { return !writes(at) })
			}
			if len(requests) > 0 {
				return fmt.Errorf("the world was asked for %v by a run without a journal", requests)
			}
			return nil
		}
		h.id = list[0].ID
	}
	now, err := h.folder.Read(h.id)
	if err != nil {
		return err
	}
	intents, err := h.intents()
	if err != nil {
		return err
	}
	for at, n := range requests {
		if n > intents[at] && (!h.behind || writes(at)) {
			return fmt.Errorf("%s was asked for %d times, and the journal has %d intents", at, n, intents[at])
		}
	}
	if h.last != nil {
		if err := h.compare(now, requests); err != nil {
			return err
		}
	}
	if killed || h.last == nil {
		h.given = map[string]string{}
	}
	for key := range h.given { // what was decided and has not come to pass is decided still
		if !slices.ContainsFunc(doubtful(now), func(r journal.Record) bool {
			return r.Key == key && requests[place(r)] == h.counts[place(r)]
		}) {
			delete(h.given, key)
		}
	}
	h.last, h.counts = now, requests
	return nil
}

// compare holds the promises about what was in the journal when a process began.
func (h *history) compare(now *journal.Journal, requests map[string]int) error {
	for _, r := range h.last.Records() {
		if !r.Result() {
			continue
		}
		after, ok := now.Lookup(r.Key, r.Attempt)
		if !ok || !cmp.Equal(r, after) {
			return fmt.Errorf("lost: the result of %s: %s", r.Key, cmp.Diff(r, after))
		}
		if at := place(r); r.Error == nil && requests[at] != h.counts[at] {
			return fmt.Errorf("redone: %s has a result, and was asked for %d times more", r.Key, requests[at]-h.counts[at])
		}
	}
	for _, r := range doubtful(h.last) {
		at := place(r)
		if h.given[r.Key] == "again" {
			continue
		}
		if requests[at] != h.counts[at] {
			return fmt.Errorf("repeated by itself: %s was in doubt", r.Key)
		}
		if after, _ := now.Lookup(r.Key, r.Attempt); after.Result() && h.given[r.Key] == "" {
			return fmt.Errorf("not reported: %s was in doubt", r.Key)
		}
	}
	for _, r := range unresolved(h.last) {
		if at := place(r); keyed(r) && requests[at] > h.counts[at] {
			h.tally.keyed++
		}
	}
	return nil
}

var inDoubt = regexp.MustCompile(`call (\S+) had started and has no result`)

// doubt decides about the call in doubt that the program has named.
func (h *history) doubt(stderr []byte) error {
	m := inDoubt.FindSubmatch(stderr)
	if m == nil {
		return errors.New("it has failed")
	}
	key := string(m[1])
	for _, r := range doubtful(h.last) {
		if r.Key != key {
			continue
		}
		if h.given[key] != "" {
			return fmt.Errorf("%s was decided", key)
		}
		h.tally.named++
		if h.world.effects()[place(r)] == 0 {
			h.given[key] = "again"
			h.tally.again++
		} else {
			h.given[key] = fmt.Sprint(answer(place(r)))
			h.tally.done++
		}
		return nil
	}
	return fmt.Errorf("%s is not in doubt", key)
}

// end holds the promises about a run that has succeeded.
func (h *history) end(stdout []byte) error {
	var got map[string]any
	if err := json.Unmarshal(stdout, &got); err != nil {
		return err
	}
	want, writes := h.expected()
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("another output (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(writes, h.world.effects()); diff != "" {
		return fmt.Errorf("lost or doubled writes (-want +got):\n%s", diff)
	}
	for at, keys := range h.world.idempotency() {
		if strings.HasPrefix(at, "mail-") != (len(keys) == 1) {
			return fmt.Errorf("%s was sent with the keys %q", at, slices.Sorted(maps.Keys(keys)))
		}
	}
	if u := unresolved(h.last); len(u) > 0 || h.last.Finish().Outcome != journal.Succeeded {
		return fmt.Errorf("the journal is open: %+v, %+v", u, h.last.Finish())
	}
	return nil
}

// expected is the output, and how often each write happens.
func (h *history) expected() (out map[string]any, writes map[string]int) {
	book := fmt.Sprintf("book-%d", answer("open"))
	writes = map[string]int{book: 1}
	mails, polls := []any{}, []any{}
	for _, item := range h.items {
		charge := fmt.Sprintf("charge-%s-%d", item, answer("price-"+item))
		mail := fmt.Sprintf("mail-%s-%d", item, answer(charge))
		writes[charge], writes[mail] = 1, 1
		mails = append(mails, float64(answer(mail)))
	}
	for i := range 3 {
		polls = append(polls, float64(answer(fmt.Sprintf("poll-%d", i))))
	}
	last := fmt.Sprintf("close-%d-%v", len(h.items), polls[2])
	writes[last] = 1
	return map[string]any{"mails": mails, "polls": polls, "last": float64(answer(last))}, writes
}

// intents counts the intents in the file, each of which allows one request.
func (h *history) intents() (map[string]int, error) {
	data, err := h.disk.ReadFile(filepath.Join(h.log, h.id, "journal.jsonl"))
	if err != nil {
		return nil, err
	}
	n := map[string]int{}
	for line := range bytes.Lines(data) {
		var l struct {
			Kind  string
			Input struct{ At string }
		}
		if json.Unmarshal(line, &l) == nil && l.Kind == journal.KindIntent {
			n[l.Input.At]++
		}
	}
	return n, nil
}

// text is the journal of a history that went wrong, for people.
func (h *history) text() []byte {
	if h == nil || h.id == "" || os.Getenv("CRASH_SEED") == "" {
		return []byte("CRASH_SEED tries it again, and shows the journal")
	}
	data, _ := h.disk.ReadFile(filepath.Join(h.log, h.id, "journal.jsonl"))
	return data
}

// place is what a call of the workflow asks the world for.
func place(r journal.Record) string {
	var in struct{ At string }
	if json.Unmarshal(r.Input, &in) != nil {
		return ""
	}
	return in.At
}

// writes reports whether a call that asks for a place writes.
func writes(at string) bool {
	return at != "open" && !strings.HasPrefix(at, "price-") && !strings.HasPrefix(at, "poll-")
}

// unresolved are the writes that have begun and have no result.
func unresolved(j *journal.Journal) (list []journal.Record) {
	for _, r := range j.Records() {
		if !r.Result() && r.Effects == flow.External.String() {
			list = append(list, r)
		}
	}
	return list
}

func keyed(r journal.Record) bool { return r.Tool == "ledger.send@1" }

// doubtful are those that somebody has to decide about.
func doubtful(j *journal.Journal) []journal.Record {
	return slices.DeleteFunc(unresolved(j), keyed)
}

// campaign plays histories, two at a time, until there were enough kills. kept, if there is one, says where the runs of a history are.
func campaign(t *testing.T, exe, sync string, kills int, gently bool, kept func(h *history) error) (tally, []time.Duration, []error) {
	t.Helper()
	var all tally
	var wrong []error
	var stops []time.Duration
	var mu lock
	var wg waits
	next := uint64(figure(t, "CRASH_SEED", 1))
	for range 2 {
		wg.Go(func() {
			for {
				mu.Lock()
				seed, enough := next, all.kills >= kills || len(wrong) > 3
				next++
				mu.Unlock()
				if enough {
					return
				}
				dir := filepath.Join(binaries, "runs", sync, fmt.Sprint(gently, seed))
				h, err := newHistory(dir, exe, seed, sync)
				if err == nil {
					h.gently = gently
					if kept != nil {
						err = kept(h)
					}
				}
				if err == nil {
					err = h.play()
				}
				mu.Lock()
				all.add(h.tally)
				stops = append(stops, h.stops...)
				if err != nil {
					wrong = append(wrong, fmt.Errorf("history %d: %w\n%s", seed, err, h.text()))
				}
				mu.Unlock()
				_ = os.RemoveAll(dir)
			}
		})
	}
	wg.Wait()
	return all, stops, wrong
}

// ledger is the workflow of the campaigns.
const ledger = "testdata/ledger.flowgen.yaml"

type (
	lock  = sync.Mutex
	waits = sync.WaitGroup
)

// P1, P2: a generated program is killed at any moment, and resumed until it is done. No result is lost, no call that has
// one is made again, every write happens once, and calls in doubt are exactly the writes without a result.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and kills it")
	}
	kills := figure(t, "CRASH_KILLS", 150)
	begin := time.Now()
	all, _, wrong := campaign(t, program(t, ledger), "effect", kills, false, nil)
	for _, err := range wrong {
		t.Error(err)
	}
	t.Logf("%v, in %v", all, time.Since(begin).Round(time.Millisecond))
	if all.kills < kills || all.again == 0 || all.done == 0 || all.keyed == 0 || all.unbegun == 0 {
		t.Error("the campaign does not do what it should")
	}
}

// P12: a program that is asked to stop at any moment stops soon, with a journal that says so, and goes on from there; one
// that is asked twice stops at once, and its journal is good all the same.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and stops it")
	}
	stops := figure(t, "CRASH_STOPS", 80)
	all, took, wrong := campaign(t, program(t, ledger), "effect", stops, true, nil)
	for _, err := range wrong {
		t.Error(err)
	}
	if len(took) < stops/2 {
		t.Fatalf("%d times stopped", len(took))
	}
	slices.Sort(took)
	t.Logf("%v; stopped in %v at half of the times, in %v at 99 of 100, in %v at most", all, took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	// On a quiet machine it is some milliseconds. The bounds are for one that does much else, and far below what waiting would take.
	if half, most := took[len(took)/2], took[len(took)-1]; half > 2*time.Second || most > 30*time.Second {
		t.Errorf("it takes %v, at most %v, to stop", half, most)
	}
}

// The same campaign finds what is not promised: with --sync off lines wait in the program's memory.
func TestKilledWithoutSync(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and kills it")
	}
	_, _, wrong := campaign(t, program(t, ledger), "off", 60, false, nil)
	if len(wrong) == 0 {
		t.Error("the campaign finds nothing where lines are lost")
	}
}
