package sirenspec

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Guard is a guardrail: it looks at what an agent receives, or with answer at what it says, and lets it pass, changes it
// or refuses it.
type Guard func(text string, answer bool) (string, error)

// A refusal is what a guardrail says about text that it does not let pass.
type refusal struct {
	reason string
	kind   string // how the engine's error begins; empty: with the reason
}

func (e *refusal) Error() string { return e.reason }

// denied is the error of a node whose text a guardrail refuses.
func denied(err error) error {
	var x *refusal
	if !errors.As(err, &x) {
		return err
	}
	return value.Errorf(value.PolicyDenied, "%s%s", x.kind, x.reason)
}

func violation(format string, args ...any) error {
	return &refusal{kind: "GuardrailViolation: ", reason: fmt.Sprintf(format, args...)}
}

// The patterns of the injection guardrail, as the engine has and shows them.
var injectionPatterns = []string{
	`ignore\s+(all\s+)?(previous|all|prior)\s+(previous\s+)?instructions?`,
	`disregard\s+(your\s+)?(previous|all|prior|your)\s+(previous\s+)?instructions?`,
	`you\s+are\s+now\s+`,
	`forget\s+(your|all|previous)\s+instructions?`,
	`new\s+instructions?:`,
	`override\s+(previous|all|prior)\s+instructions?`,
	`act\s+as\s+(if\s+you\s+are|a\s+)`,
	`pretend\s+(you\s+are|to\s+be)\s+`,
	`your\s+(new\s+)?role\s+is\s+`,
	`system\s*:\s*you\s+are\s+`,
}

// space is what \s is in Python, where text is Unicode.
const space = `[\s\v\x1c-\x1f\x{85}\p{Z}]`

var injections = compiled(injectionPatterns)

func compiled(patterns []string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, p := range patterns {
		out = append(out, regexp.MustCompile(`(?i)`+strings.ReplaceAll(p, `\s`, space)))
	}
	return out
}

// Injection refuses text that tries to give a model other instructions, in both directions.
func Injection(text string, answer bool) (string, error) {
	for i, x := range injections {
		if x.MatchString(text) {
			where := "input"
			if answer {
				where = "output"
			}
			return "", violation("Injection pattern detected in %s: '%s'", where, injectionPatterns[i])
		}
	}
	return text, nil
}

// Length cuts answers that are longer than so many characters.
func Length(most int) Guard {
	return func(text string, answer bool) (string, error) {
		if runes := longer(text, most, answer); runes != nil {
			return string(runes[:most]) + "...", nil
		}
		return text, nil
	}
}

// LengthOrFail refuses answers that are longer than so many characters.
func LengthOrFail(most int) Guard {
	return func(text string, answer bool) (string, error) {
		if runes := longer(text, most, answer); runes != nil {
			return "", violation("Output length %d exceeds max_chars=%d", len(runes), most)
		}
		return text, nil
	}
}

// longer are the characters of an answer that has more than most; nil for one that fits.
func longer(text string, most int, answer bool) []rune {
	if !answer || len(text) <= most {
		return nil
	}
	if runes := []rune(text); len(runes) > most {
		return runes
	}
	return nil
}
