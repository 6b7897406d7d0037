// Package pattern makes the patterns of schemas count: a program whose types have some imports it, for nothing but
// that. Others do without regular expressions.
package pattern

import (
	"regexp"

	"github.com/flowgen-dev/flowgen/runtime"
)

func init() {
	runtime.UsePatterns(func(re string) (runtime.Pattern, error) { return regexp.Compile(re) })
}
