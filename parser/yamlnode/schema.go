package yamlnode

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
)

// A Schema says what a plain scalar is to a reader of YAML: the tag !!str, !!int, !!float, !!bool or !!null. Quoted text
// is a string to all of them. Dialects are read with the schema of their engine's own reader.
type Schema func(plain string) string

// Tag is what a scalar is under a schema. A tag that is written in the file holds.
func (s Schema) Tag(n *Node) string {
	switch {
	case n.Kind == Null:
		return "!!null"
	case n.Kind != Scalar || n.Explicit:
		return n.Tag
	case n.Style != Plain:
		return "!!str"
	}
	return s(n.Text.Value)
}

var (
	coreInt   = lazyregexp.New(`^[-+]?[0-9]+$|^0o[0-7]+$|^0x[0-9a-fA-F]+$`)
	coreFloat = lazyregexp.New(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$`)
)

// Core is the core schema of YAML 1.2, which JavaScript's yaml package reads.
func Core(plain string) string {
	switch plain {
	case "", "~", "null", "Null", "NULL":
		return "!!null"
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return "!!bool"
	}
	switch {
	case coreInt.MatchString(plain):
		return "!!int"
	case coreFloat.MatchString(plain):
		return "!!float"
	}
	return "!!str"
}

var (
	underscored = lazyregexp.New(`^[-+]?(0b[0-1_]+|0o?[0-7_]+|[0-9][0-9_]*|0x[0-9a-fA-F_]+|([0-9][0-9_]*\.[0-9_]*|\.[0-9_]+)([eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+)$`)
	based       = lazyregexp.New(`^([-+]?)(0[box][0-9a-fA-F]+)$`)
)

// Ruamel is YAML 1.2 as Python's ruamel.yaml reads it: the core schema with 1_000 and 0b11 as numbers.
func Ruamel(plain string) string {
	tag := Core(plain)
	if tag == "!!str" && strings.ContainsAny(plain, "_b+-") && underscored.MatchString(plain) {
		return Core(ruamelNumber(plain))
	}
	return tag
}

// ruamelNumber is a number of Ruamel as the core schema writes it.
func ruamelNumber(plain string) string {
	plain = strings.ReplaceAll(plain, "_", "")
	if m := based.FindStringSubmatch(plain); m != nil {
		if n, err := strconv.ParseInt(m[1]+m[2], 0, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
	}
	return plain
}

// Number is the JSON of a number of the core schema, or of Ruamel; ok is false for infinities and what is not a number.
func Number(plain string) (json string, integer, ok bool) {
	if strings.ContainsAny(plain, "_b") && underscored.MatchString(plain) {
		plain = ruamelNumber(plain) // only where Ruamel says that it is a number
	}
	if coreInt.MatchString(plain) {
		text, base := strings.TrimPrefix(plain, "+"), 10
		for prefix, b := range map[string]int{"0o": 8, "0x": 16} {
			if rest, cut := strings.CutPrefix(text, prefix); cut {
				text, base = rest, b
			}
		}
		if n, err := strconv.ParseInt(text, base, 64); err == nil {
			return strconv.FormatInt(n, 10), true, true
		}
		if base != 10 {
			return "", false, false
		}
		plain = text
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil || !coreFloat.MatchString(plain) && !coreInt.MatchString(plain) {
		return "", false, false
	}
	return strconv.FormatFloat(f, 'g', -1, 64), false, true
}
