// Command cmd takes the times of docs/benchmarks.md: it runs every workload beside its hand-written equivalent, in short
// slices that take turns, and whole programs in turn. It prints Markdown, or with -write puts it into the document between
// the lines that mark the place.
//
//	go run ./bench/cmd [-rounds 12] [-slice 50ms] [-only W1,W2] [-write docs/benchmarks.md]
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/bench/measure"
)

// marks are the lines around what is measured, with other libraries and without.
func marks(peers bool) (begin, end string) {
	if peers {
		return "<!-- peers: begin. `make peers` writes this part. -->\n", "<!-- peers: end -->\n"
	}
	return "<!-- measured: begin. `make bench` writes this part. -->\n", "<!-- measured: end -->\n"
}

func main() {
	plan := measure.Plan{}
	flag.IntVar(&plan.Rounds, "rounds", 12, "how often each case is measured")
	flag.DurationVar(&plan.Slice, "slice", 50*time.Millisecond, "how long a case runs in a round")
	only := flag.String("only", "", "measure these workloads only, as in W1,W5")
	peers := flag.String("peers", "", "measure the workloads that other libraries do too, beside them: the folder that make peers fills")
	write := flag.String("write", "", "the document to put the tables into")
	flag.Parse()
	if err := run(plan, *only, *peers, *write); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(plan measure.Plan, only, peers, write string) error {
	wanted := func(id string) bool {
		for want := range strings.SplitSeq(only, ",") {
			if want == "" || want == id {
				return true
			}
		}
		return false
	}
	r := &report{plan: plan, peers: peers}
	r.machine()
	if peers != "" {
		if err := r.versions(); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		ids []string
		do  func() error
	}{
		{[]string{"W1", "W2", "W3", "W4", "W5", "W7"}, func() error { return r.workloads(wanted) }},
		{[]string{"W11"}, r.dialects},
		{[]string{"W6"}, r.start},
		{[]string{"W8"}, r.compile},
		{[]string{"W10"}, r.memory},
	} {
		for _, id := range part.ids {
			if wanted(id) {
				if err := part.do(); err != nil {
					return err
				}
				break
			}
		}
	}
	if write == "" {
		_, err := os.Stdout.WriteString(r.text.String())
		return err
	}
	return put(write, r.text.String(), peers != "")
}

// put replaces what is between the marks of a document.
func put(name, text string, peers bool) error {
	beginMark, endMark := marks(peers)
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, begun := strings.Cut(string(old), beginMark)
	_, tail, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return fmt.Errorf("%s has no place for the tables: lines %q and %q", name, beginMark, endMark)
	}
	return os.WriteFile(name, []byte(head+beginMark+"\n"+text+"\n"+endMark+tail), 0o644)
}
