package torture

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

type flowIn struct {
	Name  string `json:"name" flow:"min=1,max=20"`
	Level string `json:"level" flow:"enum=low|high"`
	Many  int64  `json:"many" flow:"min=0,max=5"`
}

type item struct {
	Name string  `json:"name"`
	Sev  string  `json:"sev" flow:"enum=low|high"`
	Note *string `json:"note,omitempty"`
}

type flowOut struct {
	Items []string `json:"items"`
	Sent  int64    `json:"sent"`
}

// workflow is a workflow as the compiler would write it: a list, a map over it with a retry, two branches, and a write.
type workflow struct {
	rt    *flow.Runtime
	tools tools
}

type tools struct {
	list *flow.Tool[flowIn, []item]
	mark *flow.Tool[item, string]
	sort *flow.Tool[[]string, []string]
	send *flow.Tool[[]string, int64]
	body func(r *flow.Run, in flowIn, t *tools) (flowOut, error)
}

var nodes = []*flow.Node{
	{ID: "list", Pos: "w.yaml:1:1", Index: 0, Retry: &flow.Retry{Attempts: 3, Base: time.Second, Jitter: 0.5}},
	{ID: "each", Pos: "w.yaml:2:1", Index: 1, Limit: 3, Max: 100},
	{ID: "mark", Pos: "w.yaml:3:1", Index: 2, Timeout: time.Minute},
	{ID: "sort", Pos: "w.yaml:4:1", Index: 3},
	{ID: "send", Pos: "w.yaml:5:1", Index: 4, Timeout: time.Minute},
	{ID: "log", Pos: "w.yaml:6:1", Index: 5},
}

func good() tools {
	return tools{
		list: flow.Bind("w.list@1", flow.Reads, func(context.Context, flowIn) ([]item, error) { panic("not fake") }),
		mark: flow.Bind("w.mark@1", flow.None, func(_ context.Context, in item) (string, error) { return in.Name + in.Sev, nil }),
		sort: flow.Bind("w.sort@1", flow.None, func(_ context.Context, in []string) ([]string, error) {
			return append([]string{"first"}, in...), nil
		}),
		send: flow.Bind("w.send@1", flow.External, func(context.Context, []string) (int64, error) { panic("not fake") }),
		body: body,
	}
}

func body(r *flow.Run, in flowIn, t *tools) (out flowOut, err error) {
	items, err := flow.Call(r, nodes[0], t.list, in)
	if err != nil {
		return out, err
	}
	marks, err := flow.Map(r, nodes[1], items, func(r *flow.Run, it item) (string, error) {
		return flow.Call(r, nodes[2], t.mark, it)
	})
	if err != nil {
		return out, err
	}
	err = flow.Parallel(r,
		func(r *flow.Run) (err error) {
			out.Items, err = flow.Call(r, nodes[3], t.sort, marks)
			return err
		},
		func(r *flow.Run) error {
			_, err := flow.CallOrSkip(r, nodes[5], t.send, marks)
			return err
		},
		func(r *flow.Run) (err error) {
			out.Sent, err = flow.Call(r, nodes[4], t.send, marks)
			return err
		})
	return out, err
}

var info = &flow.Info{Name: "w", Nodes: nodes, Input: []flow.Field{{Name: "name", Type: "string"}, {Name: "level", Type: "enum<low|high>"}, {Name: "many", Type: "int"}}}

func (f *workflow) Run(ctx context.Context, in flowIn) (out flowOut, err error) {
	run := f.rt.Start(ctx)
	defer run.End(&err)
	return f.tools.body(run, in, &f.tools)
}

func workflowOf(t tools) *Workflow {
	return Of(info, func(o ...runtime.Option) (*workflow, error) {
		rt, err := flow.New(info, o...)
		return &workflow{rt, t}, err
	})
}

func torture(t tools, o Options) Report {
	o.Real = append(o.Real, "w.mark@1", "w.sort@1")
	return Run(context.Background(), workflowOf(t), o)
}

func TestGoodWorkflow(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 200
	}
	if many, err := strconv.Atoi(os.Getenv("TORTURE_TRIALS")); err == nil {
		n = many
	}
	r := torture(good(), Options{Trials: n})
	t.Log(r.Text())
	for _, f := range r.Findings {
		t.Error(f)
	}
	if r.Trials != int64(n) || r.Faults == 0 || r.Crashes < r.Trials || r.DiskCrashes < r.Trials/5 || r.Resumes < r.Trials || r.Replays < r.Trials || r.Cancelled == 0 || r.Capped == 0 || r.Failed == 0 || r.Failed*2 > r.Runs*3/2 || r.Unfit > 0 {
		t.Errorf("the campaign does not do what it should: %+v", r.Counts)
	}
	again := torture(good(), Options{Trials: n})
	if again.Counts != r.Counts {
		t.Errorf("not reproducible: %+v, %+v", r.Counts, again.Counts)
	}
}

// A call in doubt runs again where the workflow says so, also when all that is known of it is in a journal whose disk failed.
func TestSettledDoubt(t *testing.T) {
	for policy, want := range map[flow.DoubtPolicy]int{flow.FailInDoubt: 1, flow.RetryWithKey: 0} {
		found := 0
		w := newWorld(1, nil, false, func(check, _, _ string, _ ...any) {
			if found++; check != "doubt" {
				t.Error(check)
			}
		})
		h := &engine.Head{Node: nodes[4], Tool: "w.send@1", Effects: flow.External, Attempt: 2, InDoubt: &flow.Doubt{Policy: policy}}
		w.doubtful = map[call]bool{callOf(h): true}
		if w.enter(callOf(h), h, false); found != want {
			t.Errorf("%v: %d findings", policy, found)
		}
	}
}

func TestEveryCrash(t *testing.T) {
	r := torture(good(), Options{Trials: 50, EveryCrash: true})
	t.Log(r.Text())
	for _, f := range r.Findings {
		t.Error(f)
	}
	if r.Crashes < 50*8 || r.DiskCrashes < 50*8 {
		t.Errorf("only %d crashes", r.Crashes)
	}
}

type hiding struct{ hidden int64 }

var lossy = flow.Bind("w.sort@1", flow.None, func(_ context.Context, in flowIn) (hiding, error) { return hiding{1 + in.Many}, nil })

// Every check finds a workflow, or a tool, that is made to be wrong in its way, under a seed that finds it again.
func TestFindings(t *testing.T) {
	var counter atomic.Int64
	release := make(chan struct{})
	defer close(release)
	cases := []struct {
		check, says string
		wrong       func(t *tools)
	}{
		{"input", "node sort: tool w.sort@1 changed its input", func(t *tools) {
			t.sort = flow.Bind("w.sort@1", flow.None, func(_ context.Context, in []string) ([]string, error) {
				if len(in) > 0 {
					in[0] = "changed"
				}
				return in, nil
			})
		}},
		{"deterministic", "tool w.mark@1 has effects none and gave two results", func(t *tools) {
			t.mark = flow.Bind("w.mark@1", flow.None, func(_ context.Context, in item) (string, error) {
				return in.Name + string(rune('a'+counter.Add(1)%26)), nil
			})
		}},
		{"outcome", "a run whose calls had the same outcomes gave", func(t *tools) {
			t.body = func(r *flow.Run, in flowIn, t *tools) (flowOut, error) {
				out, err := body(r, in, t)
				out.Sent = counter.Add(1)
				return out, err
			}
		}},
		{"replay", "a replay under another schedule of a run gave", func(t *tools) { // what JSON loses is there in the run alone
			t.body = func(r *flow.Run, in flowIn, t *tools) (flowOut, error) {
				l, err := flow.Call(r, nodes[3], lossy, in)
				return flowOut{Sent: l.hidden}, err
			}
		}},
		{"keys", "two calls have the key sort", func(t *tools) {
			twice := *nodes[3]
			twice.Index = -1 // another node with the same id
			t.body = func(r *flow.Run, in flowIn, t *tools) (flowOut, error) {
				if _, err := flow.Call(r, &twice, t.sort, nil); err != nil {
					return flowOut{}, err
				}
				return body(r, in, t)
			}
		}},
		{"panic", "at the disco", func(t *tools) {
			t.body = func(r *flow.Run, in flowIn, t *tools) (flowOut, error) {
				if in.Level == "high" {
					panic("at the disco")
				}
				return body(r, in, t)
			}
		}},
		{"hang", "did not end within", func(t *tools) {
			t.body = func(r *flow.Run, in flowIn, t *tools) (flowOut, error) {
				<-release
				return flowOut{}, nil
			}
		}},
		{"goroutines", "goroutines were left", func(t *tools) {
			t.sort = flow.Bind("w.sort@1", flow.None, func(_ context.Context, in []string) ([]string, error) {
				go func() { <-release }()
				return in, nil
			})
		}},
		{"cancelled", "was stopped", func(t *tools) {
			t.body = func(r *flow.Run, in flowIn, t *tools) (flowOut, error) {
				out, err := body(r, in, t)
				if err != nil {
					return flowOut{}, nil // swallows cancellations
				}
				return out, nil
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.check, func(t *testing.T) {
			w := good()
			c.wrong(&w)
			o := Options{Seed: 7, Trials: 300, Stop: 1, Patience: 200 * time.Millisecond}
			if c.check != "hang" {
				o.Patience = time.Minute
			}
			r := torture(w, o)
			if len(r.Findings) == 0 {
				t.Fatal("nothing was found")
			}
			f := r.Findings[0]
			if f.Check != c.check || !strings.Contains(f.Detail, c.says) {
				t.Errorf("found %v", f)
			}
			if c.check == "outcome" || c.check == "hang" {
				return // the counter goes on
			}
			o.Seed, o.Trials = f.Seed, 1
			again := torture(w, o)
			if len(again.Findings) == 0 || again.Findings[0].Check != c.check {
				t.Errorf("seed %d alone: %v", f.Seed, again.Findings)
			}
		})
	}
}
