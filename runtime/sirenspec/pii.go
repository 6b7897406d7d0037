package sirenspec

import (
	"regexp"
	"slices"
	"strings"
)

// A PII is what the pii guardrail looks for, and what it does about it.
type PII struct {
	Entities []string // email, phone, ssn, credit_card; nil: all of them
	Action   Action
	Instead  string // of Redact: what stands for what is taken out
}

// Action is what becomes of text with personal data.
type Action uint8

// It is taken out, the text is refused, or nothing happens.
const (
	Redact Action = iota
	Block
	Flag
)

var (
	emailForm = regexp.MustCompile(`\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b`)
	ssnForm   = regexp.MustCompile(`\b\d{3}-\d{2}-\d{4}\b`)
	cardForm  = regexp.MustCompile(`\b(?:\d{4}(?:` + space + `|-)?){3}\d{1,7}\b`)

	// A phone number is looked for at every place that no digit is before: the alternatives are in the order in which
	// the engine's pattern tries them, the longest first.
	phoneForms = phones()
)

var finders = map[string]func(string) [][]int{
	"email":       func(s string) [][]int { return emailForm.FindAllStringIndex(s, -1) },
	"ssn":         func(s string) [][]int { return ssnForm.FindAllStringIndex(s, -1) },
	"phone":       findPhones,
	"credit_card": findCards,
}

var entities = []string{"email", "phone", "ssn", "credit_card"}

// Guard makes the guardrail, which looks at both directions. Letters beyond ASCII end a word here, and are part of it in the
// engine: what is between them is taken out, too.
func (p PII) Guard() Guard {
	if p.Entities == nil {
		p.Entities = entities
	}
	return func(text string, _ bool) (string, error) {
		var spans [][]int
		var found []string
		for _, e := range p.Entities {
			if at := finders[e](text); len(at) > 0 {
				spans = append(spans, at...)
				found = append(found, e)
			}
		}
		if len(spans) == 0 || p.Action == Flag {
			return text, nil
		}
		if p.Action == Block {
			slices.Sort(found)
			return "", &refusal{reason: "PII detected: ['" + strings.Join(slices.Compact(found), "', '") + "']"}
		}
		return redacted(text, spans, p.Instead), nil
	}
}

// redacted is text without what is at the places. Of places that overlap the first holds.
func redacted(text string, spans [][]int, instead string) string {
	slices.SortFunc(spans, slices.Compare[[]int])
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s[0] < at {
			continue
		}
		b.WriteString(text[at:s[0]] + instead)
		at = s[1]
	}
	b.WriteString(text[at:])
	return b.String()
}

// phones are the forms of a phone number, each from the beginning of a text.
func phones() []*regexp.Regexp {
	gap := `(?:` + space + `|[.-])?`
	var out []*regexp.Regexp
	for _, country := range []string{`\+1` + gap, ``} {
		for _, area := range []string{`\(?\d{3}\)?` + gap, ``} {
			out = append(out, regexp.MustCompile(`^`+country+area+`\d{3}`+gap+`\d{4}`))
		}
	}
	return out
}

// findPhones finds phone numbers that no digit is before or behind.
func findPhones(s string) [][]int {
	var out [][]int
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '+' && c != '(' && !digit(c) || i > 0 && digit(s[i-1]) {
			continue
		}
		for _, form := range phoneForms {
			at := form.FindStringIndex(s[i:])
			if at == nil || i+at[1] < len(s) && digit(s[i+at[1]]) {
				continue
			}
			out = append(out, []int{i, i + at[1]})
			i += at[1] - 1
			break
		}
	}
	return out
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// findCards finds card numbers whose last digit is right.
func findCards(s string) [][]int {
	return slices.DeleteFunc(cardForm.FindAllStringIndex(s, -1), func(at []int) bool { return !luhn(s[at[0]:at[1]]) })
}

// luhn reports whether digits pass the check of card numbers.
func luhn(s string) bool {
	sum, n := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		if !digit(s[i]) {
			continue
		}
		d := int(s[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	return n >= 13 && sum%10 == 0
}
