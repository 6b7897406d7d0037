package expr

// index parses x[key], of which n is x.
func (p *parser) index(n *Node) *Node {
	open := p.next()
	p.nest++
	defer func() { p.nest-- }()
	if t := p.peek(); t.op(":") {
		return p.sliced(n, nil, t)
	}
	key := p.expr()
	switch t := p.peek(); {
	case p.failed:
		return n
	case t.op(":"):
		return p.sliced(n, key, t)
	case !t.op("]"):
		return p.unclosed(open)
	}
	end := p.next().hi
	return &Node{Op: Index, Text: "[]", Kids: []*Node{n, key}, Lo: n.Lo, Hi: end, NameLo: open.lo, NameHi: end}
}

// sliced reports xs[from:to], as other languages write it.
func (p *parser) sliced(n, from *Node, colon token) *Node {
	lo, hi := "0", "size("+n.String()+")"
	if from != nil {
		lo = from.String()
	}
	p.next()
	if !p.peek().op("]") {
		to := p.expr()
		if p.failed {
			return n
		}
		hi = to.String()
	}
	return p.failSpelling(colon.lo, colon.hi, "a part of a list is not read with `:`", "write `"+receiver(n)+".slice("+lo+", "+hi+")`")
}

// mapping parses {"key": value, ...}.
func (p *parser) mapping() *Node {
	open := p.next()
	p.nest++
	defer func() { p.nest-- }()
	n := &Node{Op: MapLit, Lo: open.lo, NameLo: open.lo, NameHi: open.hi}
	for !p.failed && !p.peek().op("}") {
		p.entry(n)
		if !p.accept(",") {
			break
		}
	}
	if p.failed {
		return n
	}
	if !p.peek().op("}") {
		return p.unclosed(open)
	}
	n.Hi = p.next().hi
	return n
}

// entry parses one key and its value. The key is a string: CEL takes a name there for a variable.
func (p *parser) entry(n *Node) {
	key := p.peek()
	switch {
	case key.kind == tokString:
	case key.kind == tokName && p.after().op(":"):
		p.foreign(key.lo, key.hi, "the key of a field is a string", "", quoted(key.text))
	default:
		p.expected("a key in quotes")
		return
	}
	p.next()
	if !p.accept(":") {
		p.expected("`:` behind the key")
		return
	}
	n.Keys, n.KeyAt = append(n.Keys, key.text), append(n.KeyAt, [2]int{key.lo, key.hi})
	n.Kids = append(n.Kids, p.expr())
}
