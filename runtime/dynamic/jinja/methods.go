package jinja

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Format is Python's % formatting: %s, %d, %f, %x, %% with flags, width and precision.
func (t *Text) Format(f, args dynamic.Field) dynamic.Field {
	items, ok := args.Items()
	if !ok {
		items = []value.Value{args.Value()}
	}
	s := t.text(f)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		j := i + 1
		for j < len(s) && strings.IndexByte("-+ 0#.123456789", s[j]) >= 0 {
			j++
		}
		if j >= len(s) {
			return t.fail("a format ends in the middle")
		}
		if s[j] == '%' {
			b.WriteByte('%')
			i = j
			continue
		}
		if len(items) == 0 {
			return t.fail("not enough arguments for a format")
		}
		text, ok := py.Percent(s[i+1:j], s[j], items[0])
		if !ok {
			return t.fail("%%%s takes something else than %s", s[i+1:j+1], kind(dynamic.Of(items[0])))
		}
		b.WriteString(text)
		items = items[1:]
		i = j
	}
	return dynamic.Text(b.String())
}

// Method calls a method of Python's str, dict or list.
func (t *Text) Method(f dynamic.Field, name string, args ...dynamic.Field) dynamic.Field {
	v := f.Value()
	if !f.Present() {
		return t.fail("a value is undefined, and has no method %q", name)
	}
	switch {
	case v.Kind() == value.MapKind:
		switch name {
		case "items":
			return t.pairs(f)
		case "keys":
			return dynamic.List(t.Items(f)...)
		case "values":
			out := make([]dynamic.Field, v.Len())
			for i := range out {
				out[i] = dynamic.Of(v.Index(i))
			}
			return dynamic.List(out...)
		case "get":
			if x := f.At(t.text(arg(args, 0))); x.Present() {
				return x
			}
			return dynamic.Of(arg(args, 1).Value())
		}
	case v.Kind() == value.StringKind:
		return t.method(v.String(), name, args)
	case v.Kind() == value.ListKind && (name == "count" || name == "index"):
		n := int64(0)
		for i := range v.Len() {
			if py.Equal(dynamic.Of(v.Index(i)), arg(args, 0)) {
				if name == "index" {
					return dynamic.Whole(int64(i))
				}
				n++
			}
		}
		return dynamic.Whole(n)
	}
	return t.fail("%s has no method %q", kind(f), name)
}

func (t *Text) method(s, name string, args []dynamic.Field) dynamic.Field {
	switch name {
	case "upper":
		return dynamic.Text(strings.ToUpper(s))
	case "lower":
		return dynamic.Text(strings.ToLower(s))
	case "title":
		return dynamic.Text(title(s))
	case "capitalize":
		return dynamic.Text(capitalize(s))
	case "strip":
		return dynamic.Text(strip(s, arg(args, 0), true, true))
	case "lstrip":
		return dynamic.Text(strip(s, arg(args, 0), true, false))
	case "rstrip":
		return dynamic.Text(strip(s, arg(args, 0), false, true))
	case "split":
		var parts []dynamic.Field
		n := int(number(args, 1, -1))
		list := strings.Fields(s)
		if sep := arg(args, 0); sep.Present() && !sep.Value().IsNull() {
			list = strings.SplitN(s, t.text(sep), cmp.Or(n+1, -1))
		}
		for _, p := range list {
			parts = append(parts, dynamic.Text(p))
		}
		return dynamic.List(parts...)
	case "splitlines":
		var parts []dynamic.Field
		for _, p := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n") {
			parts = append(parts, dynamic.Text(p))
		}
		if s == "" {
			parts = nil
		}
		return dynamic.List(parts...)
	case "join":
		return t.Join(arg(args, 0), dynamic.Text(s), dynamic.Field{})
	case "replace":
		return dynamic.Text(strings.Replace(s, word(args, 0, ""), word(args, 1, ""), int(number(args, 2, -1))))
	case "startswith":
		return dynamic.Flag(strings.HasPrefix(s, word(args, 0, "")))
	case "endswith":
		return dynamic.Flag(strings.HasSuffix(s, word(args, 0, "")))
	case "count":
		return dynamic.Whole(int64(strings.Count(s, word(args, 0, ""))))
	case "find", "index":
		i := strings.Index(s, word(args, 0, ""))
		if i > 0 {
			i = len([]rune(s[:i]))
		}
		return dynamic.Whole(int64(i))
	case "isdigit":
		return dynamic.Flag(s != "" && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) < 0)
	case "format":
		out, err := py.Format(s, args...)
		if err != nil {
			return t.fail("%s", err)
		}
		return dynamic.Text(out)
	}
	return t.fail("a str has no method %q", name)
}
