package jssource

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
)

// A packageJSON is what is read of a package.json.
type packageJSON struct {
	dir              string
	name             string
	main, moduleMain string
	module           bool // its .js files are ES modules
	pure             bool // an import of which nothing is used can be left out
	exports, imports *ordered
}

// packageOf is that of the nearest folder at or above dir that has one, nil when there is none.
func (s *sources) packageOf(dir string) *packageJSON {
	for {
		if p := s.packageIn(dir); p != nil {
			return p
		}
		up := filepath.Dir(dir)
		if up == dir || filepath.Base(dir) == "node_modules" || !s.roots.Hold(up) {
			return nil
		}
		dir = up
	}
}

// packageIn is that of a folder. One that cannot be read is none.
func (s *sources) packageIn(dir string) *packageJSON {
	if p, done := s.packages[dir]; done {
		return p
	}
	s.packages[dir] = nil
	name := filepath.Join(dir, "package.json")
	if !s.isFile(name) {
		return nil
	}
	text, err := s.read(name)
	if err != nil {
		return nil
	}
	root := parseOrdered(text)
	if root == nil || root.keys == nil {
		return nil
	}
	p := &packageJSON{dir: dir, name: root.text("name"), main: root.text("main"), moduleMain: root.text("module"), module: root.text("type") == "module"}
	p.exports, p.imports = root.get("exports"), root.get("imports")
	if p.exports != nil && p.exports.null {
		p.exports = nil
	}
	if side := root.get("sideEffects"); side != nil {
		p.pure = side.no || side.list && len(side.items) == 0
	}
	s.packages[dir] = p
	return p
}

// An ordered is a JSON value whose objects keep the order of their keys, which decides among conditions.
type ordered struct {
	str   *string
	null  bool
	no    bool // false
	list  bool
	keys  []string // of an object; nil for other values
	items []*ordered
}

// maxJSON is how deep values of JSON are read.
const maxJSON = 50

func parseOrdered(text []byte) *ordered {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	return orderedValue(dec, 0)
}

// orderedValue reads one value; nil when it is none.
func orderedValue(dec *json.Decoder, depth int) *ordered {
	tok, err := dec.Token()
	if err != nil || depth > maxJSON {
		return nil
	}
	switch v := tok.(type) {
	case nil:
		return &ordered{null: true}
	case bool:
		return &ordered{no: !v}
	case string:
		return &ordered{str: &v}
	case json.Delim:
		out := &ordered{list: v == '['}
		if !out.list {
			out.keys = []string{}
		}
		for dec.More() {
			if !out.list {
				key, err := dec.Token()
				if err != nil {
					return nil
				}
				name, _ := key.(string)
				out.keys = append(out.keys, name)
			}
			item := orderedValue(dec, depth+1)
			if item == nil {
				return nil
			}
			out.items = append(out.items, item)
		}
		if _, err := dec.Token(); err != nil {
			return nil
		}
		return out
	}
	return &ordered{}
}

func (o *ordered) get(key string) *ordered {
	if o == nil {
		return nil
	}
	for i, k := range o.keys {
		if k == key {
			return o.items[i]
		}
	}
	return nil
}

func (o *ordered) text(key string) string {
	if v := o.get(key); v != nil && v.str != nil {
		return *v.str
	}
	return ""
}

// find is the target of a key of `exports` or `imports`: its own, or that of the longest pattern that fits.
func (o *ordered) find(key string, conditions []string) (string, bool) {
	if strings.HasPrefix(key, ".") && (len(o.keys) == 0 || !strings.HasPrefix(o.keys[0], ".")) { // one target for the package itself
		if key != "." {
			return "", false
		}
		return o.choose("", conditions)
	}
	if v := o.get(key); v != nil && !strings.Contains(key, "*") {
		return v.choose("", conditions)
	}
	var best *ordered
	length, star := -1, ""
	for i, k := range o.keys {
		before, after, ok := strings.Cut(k, "*")
		if !ok && strings.HasSuffix(k, "/") { // a folder, as old packages have it
			before, ok = k, true
		}
		if ok && len(before) > length && len(key) >= len(before)+len(after) && strings.HasPrefix(key, before) && strings.HasSuffix(key, after) {
			best, length, star = o.items[i], len(before), key[len(before):len(key)-len(after)]
		}
	}
	if best == nil {
		return "", false
	}
	return best.choose(star, conditions)
}

// choose is the first target whose conditions are true.
func (o *ordered) choose(star string, conditions []string) (string, bool) {
	switch {
	case o.str != nil:
		to := *o.str
		if strings.HasSuffix(to, "/") {
			to += "*"
		}
		return strings.ReplaceAll(to, "*", star), true
	case o.list:
		for _, item := range o.items {
			if to, ok := item.choose(star, conditions); ok {
				return to, true
			}
		}
	default:
		for i, k := range o.keys {
			for _, c := range conditions {
				if c != k {
					continue
				}
				if to, ok := o.items[i].choose(star, conditions); ok {
					return to, true
				}
				if o.items[i].null {
					return "", false
				}
			}
		}
	}
	return "", false
}
