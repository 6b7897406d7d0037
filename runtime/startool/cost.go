package startool

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

const (
	stepBytes = 32      // bytes touched that count as a step
	maxNest   = 200     // containers inside each other
	maxBits   = 1 << 16 // of an integer
	maxDigits = 10_000  // of a text that becomes an integer
)

// maxSteps is MaxSteps; tests lower it.
var maxSteps uint64 = MaxSteps

// limitError is the error of a program that asks for more than it may have.
type limitError struct{ message string }

func (e *limitError) Error() string { return e.message }

// room is how many bytes the thread may touch.
func room(t *starlark.Thread) int {
	if t.Steps >= maxSteps {
		return 0
	}
	return int(maxSteps-t.Steps) * stepBytes
}

// charge adds an operation that touches n bytes to the steps, or refuses it.
func charge(t *starlark.Thread, n int) error {
	if n < 0 || n > room(t) {
		return &limitError{fmt.Sprintf("too large: an operation on %d bytes, or steps that came before it, are more than a call may use", n)}
	}
	t.Steps += uint64(n / stepBytes)
	return nil
}

// weigher sums up what values hold, all the way down, counting what is held twice twice.
type weigher struct {
	sum, limit int
	err        error
}

// weigh returns the weight of the values in bytes, or an error when it is more than t may touch.
func weigh(t *starlark.Thread, values ...starlark.Value) (int, error) {
	w := weigher{limit: room(t)}
	for _, v := range values {
		w.add(v, 0)
	}
	if w.err == nil && w.sum > w.limit {
		w.err = charge(t, w.sum)
	}
	return w.sum, w.err
}

func (w *weigher) add(v starlark.Value, depth int) {
	w.sum += 16
	if w.sum > w.limit || w.err != nil {
		return
	}
	if depth > maxNest {
		w.err = &limitError{fmt.Sprintf("a value is nested more than %d deep, or holds itself", maxNest)}
		return
	}
	switch v := v.(type) {
	case starlark.String:
		w.sum += len(v)
	case starlark.Bytes:
		w.sum += len(v)
	case starlark.Int:
		if _, small := v.Int64(); !small {
			w.sum += v.BigInt().BitLen() / 8
		}
	case starlark.Tuple:
		for _, x := range v {
			w.add(x, depth+1)
		}
	case *starlark.List:
		for i := range v.Len() {
			w.add(v.Index(i), depth+1)
		}
	case *starlark.Dict:
		for k, x := range v.Entries() {
			w.sum += 48
			w.add(k, depth+1)
			w.add(x, depth+1)
		}
	case *starlark.Set:
		for x := range v.Elements() {
			w.sum += 48
			w.add(x, depth+1)
		}
	case starlark.Sequence: // range and the like: what becomes of it when it is walked
		w.sum = add(w.sum, times(v.Len(), 16))
	}
}

const most = 1 << 60

func add(a, b int) int { return min(a+min(b, most), most) }

// times multiplies sizes without overflow.
func times(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > most/b {
		return most
	}
	return a * b
}

func container(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Tuple, *starlark.List, *starlark.Dict, *starlark.Set:
		return true
	}
	return false
}

func length(v starlark.Value) int { return max(0, starlark.Len(v)) }

// operatorCost is what x op y touches.
func operatorCost(t *starlark.Thread, op syntax.Token, x, y starlark.Value) (int, error) {
	switch a := x.(type) {
	case starlark.Int:
		if b, ok := y.(starlark.Int); ok {
			return integerCost(op, a, b)
		}
	case starlark.String:
		switch op {
		case syntax.PERCENT:
			return formatCost(t, string(a), strings.Count(string(a), "%"), y)
		case syntax.PLUS:
			return len(a) + length(y), nil
		}
	}
	if op == syntax.STAR {
		n, ok := y.(starlark.Int)
		seq := x
		if !ok {
			n, ok = x.(starlark.Int)
			seq = y
		}
		if !ok {
			return 0, nil // two floats, or an error
		}
		count := most
		if i, small := n.Int64(); small {
			count = int(min(i, most))
		}
		w, err := weigh(t, seq)
		return times(w, count), err
	}
	if op == syntax.IN || op == syntax.NOT_IN {
		if _, ok := y.(starlark.Mapping); ok || !container(y) {
			w, err := weigh(t, x)
			return w + length(y)/64, err
		}
	}
	if container(x) || container(y) {
		return weigh(t, x, y)
	}
	return 0, nil
}

func integerCost(op syntax.Token, x, y starlark.Int) (int, error) {
	_, small := x.Int64()
	_, small2 := y.Int64()
	if small && small2 {
		return 0, nil // 128 bits at most, 512 for <<, which the language bounds
	}
	bits := max(x.BigInt().BitLen(), y.BigInt().BitLen())
	if op == syntax.STAR {
		bits = x.BigInt().BitLen() + y.BigInt().BitLen()
	}
	if bits > maxBits {
		return 0, &limitError{fmt.Sprintf("an integer of more than %d bits", maxBits)}
	}
	return bits * (1 + bits/512), nil // multiplication and division are not linear
}

// formatCost is that of filling places in a text; a place may hold any of the values.
func formatCost(t *starlark.Thread, format string, places int, values ...starlark.Value) (int, error) {
	w, err := weigh(t, values...)
	return add(len(format), times(places, 4*w+400)), err
}

// methodCost is what recv.name(args...) touches.
func methodCost(t *starlark.Thread, recv starlark.Value, name string, args starlark.Tuple, kwargs []starlark.Tuple) (int, error) {
	if s, ok := recv.(starlark.String); ok {
		return stringCost(t, string(s), name, args, kwargs)
	}
	switch name {
	case "append", "clear", "add", "discard", "get", "setdefault":
		return weighHash(t, args)
	case "insert", "pop", "keys", "values":
		w, err := weighHash(t, args)
		return w + 16*length(recv), err
	}
	w, err := weigh(t, args...)
	if err != nil {
		return 0, err
	}
	own, err := weigh(t, recv)
	return add(own, w), err
}

// weighHash weighs what may be a key.
func weighHash(t *starlark.Thread, args starlark.Tuple) (int, error) {
	if len(args) == 0 || !container(args[0]) {
		return 0, nil
	}
	if _, tuple := args[0].(starlark.Tuple); !tuple {
		return 0, nil // stored, not looked at
	}
	return weigh(t, args[0])
}

func stringCost(t *starlark.Thread, s, name string, args starlark.Tuple, kwargs []starlark.Tuple) (int, error) {
	at := func(i int) string {
		if i < len(args) {
			text, _ := starlark.AsString(args[i])
			return text
		}
		return ""
	}
	switch name {
	case "replace":
		return add(len(s), times(strings.Count(s, at(0)), len(at(1)))), nil
	case "join":
		w, err := weigh(t, args...)
		if len(args) > 0 {
			w = add(w, times(len(s), length(args[0])))
		}
		return w, err
	case "format":
		values := append(starlark.Tuple(nil), args...)
		for _, kv := range kwargs {
			values = append(values, kv[1])
		}
		return formatCost(t, s, strings.Count(s, "{"), values...)
	case "split", "rsplit":
		if sep := at(0); sep != "" {
			return add(len(s)/16, times(strings.Count(s, sep)+1, 40)), nil
		}
		return len(s)/16 + 40*(1+strings.Count(s, " ")+strings.Count(s, "\n")+strings.Count(s, "\t")), nil
	case "splitlines":
		return len(s)/16 + 40*(1+strings.Count(s, "\n")+strings.Count(s, "\r")), nil
	case "elems", "elem_ords", "codepoints", "codepoint_ords":
		return 48 * len(s), nil
	case "capitalize", "lower", "title", "upper":
		return 2 * len(s), nil
	}
	return (len(s) + len(at(0))) / 16, nil
}

// callCost is what a function of the language touches.
func callCost(t *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (int, error) {
	if name == "int" && len(args) > 0 {
		if s, ok := args[0].(starlark.String); ok && len(s) > maxDigits {
			return 0, &limitError{fmt.Sprintf("a number of more than %d digits", maxDigits)}
		}
	}
	values := append(starlark.Tuple(nil), args...)
	for _, kv := range kwargs {
		values = append(values, kv[1])
	}
	w, err := weigh(t, values...)
	switch name {
	case "str", "repr", "print", "fail":
		for _, v := range args {
			if n, ok := v.(starlark.Int); ok {
				if _, small := n.Int64(); !small {
					w += n.BigInt().BitLen() * n.BigInt().BitLen() / 512
				}
			}
		}
		w = times(w, 4)
	}
	return w, err
}
