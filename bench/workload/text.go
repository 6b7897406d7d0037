package workload

import (
	"context"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/bench/prompt"
)

var pull = prompt.Input{Repo: "owner/repo", PR: 42, Title: "Fix the frobnicator", Author: "ann", Diff: strings.Repeat("+ line of diff text\n", 12)}

//go:noinline
func promptByHand(in *prompt.Input) string {
	return "You are reviewing " + in.Repo + " pull request #" + strconv.FormatInt(in.PR, 10) + ".\nTitle: " + in.Title +
		"\nAuthor: " + in.Author + "\nDiff:\n" + in.Diff + "\nAnswer in markdown."
}

var sink string // keeps the compiler from leaving out what is measured

// Prompt is W3: text with five references.
func Prompt() (Comparison, error) {
	w, err := prompt.New()
	if err != nil {
		return Comparison{}, err
	}
	run, err := begin(context.Background(), prompt.Info)
	if err != nil {
		return Comparison{}, err
	}
	want := promptByHand(&pull)
	return Comparison{
		ID: "W3", Title: "prompt with five references", Unit: "prompt", Goals: map[string]float64{"flowgen": 1.05},
		Cases: []Case{
			{"by hand, concatenation", 1, repeat(func() error {
				sink = promptByHand(&pull)
				return nil
			})},
			{"flowgen", 1, repeat(func() error {
				out, err := w.Body(run, pull)
				if sink = out.Text; len(sink) != len(want) {
					return wrong(sink)
				}
				return err
			})},
		},
	}, nil
}
