// Package pattern makes the patterns of schemas count: a program whose types have some imports it, for nothing but
// that. Others do without regular expressions.
package pattern

import (
	"regexp"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

func init() {
	value.UsePatterns(func(re string) (value.Pattern, error) { return regexp.Compile(re) })
}
