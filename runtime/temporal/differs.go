package temporal

import (
	"regexp"
	"strings"
)

const anew = "run a worker with the program that started the run (describe prints its version), or start a new run"

// differs says which node does not fit a history, for the SDK's error about it. ok is false when it is about something else.
func differs(text string) (says string, ok bool) {
	text, _, _ = strings.Cut(text, "\n")
	if _, after, ok := strings.Cut(text, "flowgen: "); ok { // misfit
		says, _, _ := strings.Cut(after, ". Run the worker")
		return says, true
	}
	if !strings.Contains(text, "[TMPRL1100]") {
		return text, false
	}
	if m := expected.FindStringSubmatch(text); m != nil { // a call had ended before the difference was found
		return "the history has the call of node " + m[1] + ", but this program makes another call or passes another input", true
	}
	before, now, both := strings.Cut(text, "replay command is ")
	_, before, recorded := strings.Cut(before, "history event is ")
	if !both {
		if _, missing, ok := strings.Cut(text, "missing replay command for "); ok {
			before, now, recorded = missing, "", true
		} else if _, extra, ok := strings.Cut(text, "extra replay command for "); ok {
			before, now, recorded = "", extra, true
		}
	}
	if !recorded {
		return "the run was recorded by another program: " + text, true
	}
	was, is := step(before), step(now)
	switch {
	case is == "":
		return "the history has " + was + ", which this program does not make here", true
	case was == "":
		return "this program reaches " + is + " where the history has nothing: it is new or now comes earlier", true
	case was == is:
		return strings.TrimPrefix(was, "the call of ") + " differs, or had another input, when the run was recorded", true
	}
	return "this program reaches " + is + " where the history has " + was, true
}

var (
	activityID   = regexp.MustCompile(`(?:ActivityId|ActivityID|ID):\s*([^\s,@]+)@[\w-]{8}`)
	expected     = regexp.MustCompile(`a matching Activity command was expected in history event position ([^\s@]+?)(?:~\d+)?@[\w-]{8}`)
	activityType = regexp.MustCompile(`ActivityType:\(Name:([^)]+)\)`)
)

// step names what an event or a command of a history is about; "" is nothing.
func step(text string) string {
	if m := activityID.FindStringSubmatch(text); m != nil {
		key, attempt, again := strings.Cut(m[1], "~")
		if again {
			return "attempt " + attempt + " of node " + key
		}
		return "the call of node " + key
	}
	kind, _, _ := strings.Cut(text, ":")
	switch {
	case text == "":
		return ""
	case strings.Contains(kind, "Timer"):
		return "a wait"
	case strings.Contains(kind, "Complete") || strings.Contains(kind, "Fail"):
		return "the end of the run"
	}
	if m := activityType.FindStringSubmatch(text); m != nil {
		return "a call of tool " + m[1]
	}
	return kind
}
