package sirenspec

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// whole is a number as an int of Python, where True is 1.
func whole(v value.Value) (int64, bool) {
	switch v.Kind() {
	case value.BoolKind:
		if v.Bool() {
			return 1, true
		}
		return 0, true
	case value.IntKind:
		return v.Int(), true
	}
	return 0, false
}

// Arithmetic is an operator of Python between two values: + - * / // % and **. An integer that is too
// large for a float goes on as infinity.
func (c *Condition) Arithmetic(op string, x, y Operand) Operand {
	if v, done := c.bits(op, x, y); done {
		return v
	}
	if op == "%" && x.v.Kind() == value.StringKind {
		return c.percent(x.v.String(), y)
	}
	if x.set || y.set || x.lazy != nil || y.lazy != nil || x.call != nil || y.call != nil || op == "+" && x.tuple != y.tuple {
		return c.fail()
	}
	if v, done := c.joined(op, x, y); done {
		return v
	}
	a, okA := number(x.v)
	b, okB := number(y.v)
	if !okA || !okB {
		return c.fail()
	}
	n, okN := whole(x.v)
	m, okM := whole(y.v)
	if b == 0 && (op == "/" || op == "//" || op == "%") {
		return c.raise(byZero[op][okN && okM])
	}
	if okN && okM {
		if v, ok := wholes(op, n, m); ok {
			return Int(v)
		}
	}
	if v, ok := large(op, x.v, y.v); ok {
		return Operand{v: v}
	}
	return c.floats(op, a, b)
}

// byZero is what Python says about divisions by zero, of integers and of others.
var byZero = map[string]map[bool]string{
	"/":  {true: "division by zero", false: "float division by zero"},
	"//": {true: "integer division or modulo by zero", false: "float floor division by zero"},
	"%":  {true: "integer modulo by zero", false: "float modulo"},
}

// joined are operators on text and lists.
func (c *Condition) joined(op string, x, y Operand) (Operand, bool) {
	a, b := x.v.Kind(), y.v.Kind()
	switch {
	case op == "+" && a == value.StringKind && b == value.StringKind:
		return Str(x.v.String() + y.v.String()), true
	case op == "+" && a == value.ListKind && b == value.ListKind:
		return Operand{v: value.List(append(items(x.v), items(y.v)...)...), tuple: x.tuple}, true
	case op == "*" && (b == value.StringKind || b == value.ListKind) && a != value.StringKind && a != value.ListKind:
		return c.repeated(y.v, x.v), true
	case op == "*" && (a == value.StringKind || a == value.ListKind):
		return c.repeated(x.v, y.v), true
	}
	return Operand{}, false
}

// maxRepeated bounds what is made of text or a list times a number.
const maxRepeated = 1 << 20

// repeated is text or a list, so many times.
func (c *Condition) repeated(v, times value.Value) Operand {
	n, ok := whole(times)
	if !ok {
		return c.fail()
	}
	n = max(n, 0)
	size := v.Len()
	if v.Kind() == value.StringKind {
		size = len(v.String())
	}
	if n > maxRepeated || n*int64(size) > maxRepeated {
		return c.raise("the value is too large")
	}
	if v.Kind() == value.StringKind {
		return Str(strings.Repeat(v.String(), int(n)))
	}
	return Operand{v: value.List(slices.Repeat(items(v), int(n))...)}
}

// wholes is an operator on integers; ok is false when the result is none, or too large.
func wholes(op string, a, b int64) (int64, bool) {
	switch op {
	case "+":
		n := a + b
		return n, (n > a) == (b > 0)
	case "-":
		n := a - b
		return n, (n < a) == (b > 0)
	case "*":
		if a == 0 || b == 0 {
			return 0, true
		}
		n := a * b
		return n, n/b == a && (a != math.MinInt64 || b != -1) && (b != math.MinInt64 || a != -1)
	case "//":
		if a == math.MinInt64 && b == -1 {
			return 0, false
		}
		n := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			n--
		}
		return n, true
	case "%":
		n := a % b
		if n != 0 && (n < 0) != (b < 0) {
			n += b
		}
		return n, true
	case "**":
		if b < 0 || b > 64 {
			return 0, false
		}
		n, ok := int64(1), true
		for range b {
			if n, ok = wholes("*", n, a); !ok {
				return 0, false
			}
		}
		return n, true
	}
	return 0, false
}

// integer is a number as an int of Python of any size, nil for others.
func integer(v value.Value) *big.Int {
	if n, ok := whole(v); ok {
		return big.NewInt(n)
	}
	return py.Big(v)
}

// large is an operator on integers of any size; ok is false when one is none, or the result is too large for a float. b is not 0
// where that is divided by.
func large(op string, x, y value.Value) (v value.Value, ok bool) {
	a, b := integer(x), integer(y)
	if a == nil || b == nil {
		return v, false
	}
	n, rest := new(big.Int), new(big.Int)
	switch op {
	case "+":
		n.Add(a, b)
	case "-":
		n.Sub(a, b)
	case "*":
		n.Mul(a, b)
	case "/":
		f, _ := new(big.Rat).SetFrac(a, b).Float64()
		return value.Float(f), true
	case "//", "%":
		if n.QuoRem(a, b, rest); rest.Sign() != 0 && rest.Sign() != b.Sign() { // Python rounds down
			n.Sub(n, big.NewInt(1))
			rest.Add(rest, b)
		}
		if op == "%" {
			n = rest
		}
	case "**":
		if b.Sign() < 0 || !b.IsInt64() || int64(a.BitLen())*min(b.Int64(), maxRepeated) > maxRepeated {
			return v, false
		}
		n.Exp(a, b, nil)
	case "&":
		n.And(a, b)
	case "|":
		n.Or(a, b)
	case "^":
		n.Xor(a, b)
	case "<<", ">>":
		if b.Sign() < 0 || !b.IsInt64() || b.Int64() > 4096 {
			return v, false
		}
		if op == ">>" {
			n.Rsh(a, uint(b.Int64()))
		} else {
			n.Lsh(a, uint(b.Int64()))
		}
	default:
		return v, false
	}
	v, err := value.Parse([]byte(n.String()))
	return v, err == nil
}

func (c *Condition) floats(op string, a, b float64) Operand {
	switch op {
	case "+":
		return Float(a + b)
	case "-":
		return Float(a - b)
	case "*":
		return Float(a * b)
	case "/":
		return Float(a / b)
	case "//":
		return Float(math.Floor(a / b))
	case "%":
		n := math.Mod(a, b)
		if n != 0 && (n < 0) != (b < 0) {
			n += b
		}
		return Float(n)
	case "**":
		if a == 0 && b < 0 {
			return c.raise("0.0 cannot be raised to a negative power")
		}
		return Float(math.Pow(a, b))
	}
	return c.fail()
}

// Minus is -x.
func (c *Condition) Minus(x Operand) Operand { return c.Arithmetic("-", Int(0), x) }

// Plus is +x.
func (c *Condition) Plus(x Operand) Operand { return c.Arithmetic("+", Int(0), x) }

// Item is x[i].
func (c *Condition) Item(x, i Operand) Operand {
	switch k := x.v.Kind(); {
	case x.dotted || x.set || k != value.ListKind && k != value.MapKind && k != value.StringKind:
		return c.fail()
	case k == value.MapKind:
		v, ok := x.v.Get(i.v.String())
		if !ok || i.v.Kind() != value.StringKind {
			return c.fail()
		}
		return Operand{v: v}
	}
	n, ok := whole(i.v)
	if !ok {
		return c.fail()
	}
	all := elements(x.v)
	if n < 0 {
		n += int64(len(all))
	}
	if n < 0 || n >= int64(len(all)) {
		if x.v.Kind() == value.StringKind {
			return c.raise("string index out of range")
		}
		return c.raise("list index out of range")
	}
	return Operand{v: all[n]}
}

// elements are the items of a list, or the characters of a string.
func elements(v value.Value) []value.Value {
	if v.Kind() != value.StringKind {
		return items(v)
	}
	var out []value.Value
	for _, r := range v.String() {
		out = append(out, value.String(string(r)))
	}
	return out
}

// Part is x[from:to:step]; None stands for what is not written.
func (c *Condition) Part(x, from, to, step Operand) Operand {
	k := x.v.Kind()
	if x.set || k != value.ListKind && k != value.StringKind {
		return c.fail()
	}
	all := elements(x.v)
	by, ok := whole(step.v)
	switch {
	case step.v.IsNull():
		by = 1
	case !ok:
		return c.fail()
	}
	least, most := int64(0), int64(len(all))
	lo, hi := least, most
	if by < 0 {
		least, most = -1, most-1
		lo, hi = most, least
	}
	end := func(o Operand, absent int64) int64 {
		if o.v.IsNull() {
			return absent
		}
		n, ok := whole(o.v)
		if !ok {
			c.fail()
			return 0
		}
		if n < 0 {
			n = max(n+int64(len(all)), least)
		}
		return min(n, most)
	}
	lo, hi = end(from, lo), end(to, hi)
	switch {
	case c.failed:
		return Operand{}
	case by == 0:
		return c.raise("slice step cannot be zero")
	}
	var part []value.Value
	for i := lo; by > 0 && i < hi || by < 0 && i > hi; i += by {
		if part = append(part, all[i]); by > int64(len(all)) || -by > int64(len(all)) {
			break
		}
	}
	if k == value.ListKind {
		return Operand{v: value.List(part...), tuple: x.tuple}
	}
	var b strings.Builder
	for _, v := range part {
		b.WriteString(v.String())
	}
	return Str(b.String())
}
