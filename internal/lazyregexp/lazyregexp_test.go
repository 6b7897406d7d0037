package lazyregexp_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/google/go-cmp/cmp"
)

func TestSame(t *testing.T) {
	const expr, text = `([a-z]+)=([0-9]*)`, "a=1, bc=22, d="
	eager, lazy := regexp.MustCompile(expr), lazyregexp.New(expr)
	for name, pair := range map[string][2]any{
		"MatchString":                {eager.MatchString(text), lazy.MatchString(text)},
		"FindString":                 {eager.FindString(text), lazy.FindString(text)},
		"FindStringIndex":            {eager.FindStringIndex(text), lazy.FindStringIndex(text)},
		"FindStringSubmatch":         {eager.FindStringSubmatch(text), lazy.FindStringSubmatch(text)},
		"FindStringSubmatchIndex":    {eager.FindStringSubmatchIndex(text), lazy.FindStringSubmatchIndex(text)},
		"FindSubmatchIndex":          {eager.FindSubmatchIndex([]byte(text)), lazy.FindSubmatchIndex([]byte(text))},
		"FindAllString":              {eager.FindAllString(text, 2), lazy.FindAllString(text, 2)},
		"FindAllStringIndex":         {eager.FindAllStringIndex(text, -1), lazy.FindAllStringIndex(text, -1)},
		"FindAllStringSubmatch":      {eager.FindAllStringSubmatch(text, 2), lazy.FindAllStringSubmatch(text, 2)},
		"FindAllStringSubmatchIndex": {eager.FindAllStringSubmatchIndex(text, -1), lazy.FindAllStringSubmatchIndex(text, -1)},
		"ReplaceAllString":           {eager.ReplaceAllString(text, "$2=$1"), lazy.ReplaceAllString(text, "$2=$1")},
		"ReplaceAllStringFunc":       {eager.ReplaceAllStringFunc(text, strings.ToUpper), lazy.ReplaceAllStringFunc(text, strings.ToUpper)},
		"Split":                      {eager.Split(text, -1), lazy.Split(text, -1)},
		"String":                     {eager.String(), lazy.String()},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s (-regexp +lazyregexp):\n%s", name, diff)
		}
	}
}

func TestWrong(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression passed a test")
		}
	}()
	lazyregexp.New(`(`)
}
