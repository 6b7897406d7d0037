package sirenspec

import (
	"regexp"

	"github.com/flowgen-dev/flowgen/runtime"
)

// A Guard is a guardrail: it looks at what an agent is told, or with answer at what it says, and lets it pass, changes it
// or refuses it.
type Guard func(text string, answer bool) (string, error)

// injections are ways in which text tries to give a model other instructions.
var injections = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bignore\s+(all\s+|any\s+)?(of\s+)?(the\s+|your\s+|my\s+)?(previous|prior|above|earlier)\s+(instructions?|prompts?|rules?|directions?)`),
	regexp.MustCompile(`(?i)\bdisregard\s+(all\s+|any\s+)?(of\s+)?(the\s+|your\s+)?(previous|prior|above|earlier)\b`),
	regexp.MustCompile(`(?i)\bforget\s+(all\s+|everything\s+)?(of\s+)?(your\s+|the\s+)?(previous|prior|above|earlier)\s+(instructions?|prompts?|rules?|context)`),
	regexp.MustCompile(`(?i)\boverride\s+(all\s+)?(your\s+|the\s+)?(system\s+prompt|previous\s+instructions|safety\s+(rules|guidelines))`),
	regexp.MustCompile(`(?i)\b(reveal|print|show|repeat)\s+(me\s+)?(your|the)\s+(system\s+prompt|hidden\s+instructions|initial\s+instructions)`),
	regexp.MustCompile(`(?i)\byou\s+are\s+now\s+(in\s+)?(dan|developer\s+mode|jailbroken|unrestricted)\b`),
	regexp.MustCompile(`(?i)\bpretend\s+(that\s+)?you\s+(have|had)\s+no\s+(rules|restrictions|guidelines|filters)`),
	regexp.MustCompile(`(?i)\bact\s+as\s+(if\s+you\s+were\s+)?(an?\s+)?(unrestricted|unfiltered|jailbroken)\b`),
	regexp.MustCompile(`(?i)<\|(im_start|im_end|system|endoftext)\|>`),
	regexp.MustCompile(`(?im)^\s*###?\s*(system|new instructions?)\s*:`),
}

// Injection refuses text that tries to give a model other instructions, in both directions.
func Injection(text string, _ bool) (string, error) {
	for _, x := range injections {
		if x.MatchString(text) {
			return "", runtime.Errorf(runtime.PolicyDenied, "guardrail injection: the text looks like an attempt to change the instructions of a model")
		}
	}
	return text, nil
}

const maxAnswer = 4000 // characters

// Length cuts answers that are too long.
func Length(text string, answer bool) (string, error) {
	if !answer || len(text) <= maxAnswer {
		return text, nil
	}
	if runes := []rune(text); len(runes) > maxAnswer {
		return string(runes[:maxAnswer]) + "...", nil
	}
	return text, nil
}
