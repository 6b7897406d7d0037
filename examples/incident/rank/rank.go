// Package rank holds the Go tools of the incident workflow.
package rank

import (
	"cmp"
	"fmt"
	"os"
	"slices"
)

// Judged is a group of log lines with what is known about it.
type Judged struct {
	Service string  `json:"service"`
	Message string  `json:"message"`
	Count   int64   `json:"count"`
	Score   int64   `json:"score"`
	Owner   *string `json:"owner"`
	Ticket  *string `json:"ticket"`
}

// ByScore puts the worst first.
func ByScore(judged []Judged) []Judged {
	out := slices.Clone(judged)
	slices.SortStableFunc(out, func(a, b Judged) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// Ping asks whether a service answers. In this example only mail does.
func Ping(target string) (bool, error) {
	if target != "mail" {
		return false, fmt.Errorf("%s does not answer", target)
	}
	return true, nil
}

// Disk says whether there is room on the disk that a service writes to.
func Disk(target string) (string, error) {
	if _, err := os.Stat(os.TempDir()); err != nil {
		return "", err
	}
	return "room for " + target, nil
}
