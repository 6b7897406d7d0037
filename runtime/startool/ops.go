package startool

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

type builtin = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

func binary(t *starlark.Thread, op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	cost, err := operatorCost(t, op, x, y)
	if err == nil {
		err = charge(t, cost)
	}
	if err != nil {
		return nil, err
	}
	if op == syntax.NOT_IN { // what the compiler of the language makes of it
		z, err := starlark.Binary(syntax.IN, x, y)
		if z == nil && err == nil {
			err = fmt.Errorf("unknown binary op: %s in %s", x.Type(), y.Type())
		}
		if err != nil {
			return nil, err
		}
		return !z.Truth(), nil
	}
	z, err := starlark.Binary(op, x, y)
	if z == nil && err == nil {
		err = fmt.Errorf("unknown binary op: %s %s %s", x.Type(), op, y.Type())
	}
	return z, err
}

func compare(t *starlark.Thread, op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	cost := 0
	var err error
	if container(x) || container(y) {
		cost, err = weigh(t, x, y)
	} else if a, ok := x.(starlark.String); ok {
		cost = len(a) / 16
	}
	if err == nil {
		err = charge(t, cost)
	}
	if err != nil {
		return nil, err
	}
	z, err := starlark.Compare(op, x, y)
	return starlark.Bool(z), err
}

// inPlace is x op= y: lists, dicts and sets change, other values are made anew.
func inPlace(t *starlark.Thread, op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	name := ""
	switch x.(type) {
	case *starlark.List:
		if _, ok := y.(starlark.Iterable); ok && op == syntax.PLUS {
			name = "extend"
		}
	case *starlark.Dict:
		if _, ok := y.(*starlark.Dict); ok && op == syntax.PIPE {
			name = "update"
		}
	case *starlark.Set:
		if _, ok := y.(*starlark.Set); ok && op == syntax.PIPE {
			name = "update"
		}
	}
	if name == "" {
		return binary(t, op, x, y)
	}
	// What is there stays where it is: only what comes counts.
	cost, err := weigh(t, y)
	if err == nil {
		err = charge(t, cost)
	}
	if err != nil {
		return nil, err
	}
	f, err := x.(starlark.HasAttrs).Attr(name)
	if err == nil {
		_, err = starlark.Call(t, f, starlark.Tuple{y}, nil)
	}
	return x, err
}

// inPlaceIndex is x[i] op= y.
func inPlaceIndex(t *starlark.Thread, op syntax.Token, x, i, y starlark.Value) error {
	switch x := x.(type) {
	case starlark.HasSetKey:
		v, found, err := x.Get(i)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("key %v not in %s", i, x.Type())
		}
		if v, err = inPlace(t, op, v, y); err != nil {
			return err
		}
		return x.SetKey(i, v)
	case starlark.HasSetIndex:
		at, err := starlark.AsInt32(i)
		if err != nil {
			return fmt.Errorf("%s index: %w", x.Type(), err)
		}
		n := x.Len()
		if at < 0 {
			at += n
		}
		switch {
		case n == 0:
			return fmt.Errorf("index %v out of range: empty %s", i, x.Type())
		case at < 0 || at >= n:
			return fmt.Errorf("%s index %v out of range [%d:%d]", x.Type(), i, -n, n-1)
		}
		v, err := inPlace(t, op, x.Index(at), y)
		if err != nil {
			return err
		}
		return x.SetIndex(at, v)
	}
	if _, ok := x.(starlark.Indexable); ok {
		return fmt.Errorf("%s value does not support item assignment", x.Type())
	}
	return fmt.Errorf("unhandled index operation %s[%s]", x.Type(), i.Type())
}

// tuple makes a tuple of its arguments. Tuples may be hashed wherever they get to, so they are weighed when they are made.
func tuple(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	made := append(starlark.Tuple(nil), args...)
	cost, err := weigh(t, made)
	if err == nil {
		err = charge(t, cost)
	}
	return made, err
}

// slice is x[lo:hi:step], None for what is left out.
func slice(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	x, ok := a[0].(starlark.Sliceable)
	if !ok {
		return nil, fmt.Errorf("invalid slice operand %s", a[0].Type())
	}
	step := 1
	if a[3] != starlark.None {
		var err error
		if step, err = starlark.AsInt32(a[3]); err != nil {
			return nil, fmt.Errorf("invalid slice step: %w", err)
		}
		if step == 0 {
			return nil, fmt.Errorf("zero is not a valid slice step")
		}
	}
	n := x.Len()
	least, last := 0, n
	lo, hi := 0, n
	if step < 0 {
		least, last = -1, n-1
		lo, hi = n-1, -1
	}
	var err error
	if lo, err = bound(a[1], lo, n, least, last, "start"); err != nil {
		return nil, err
	}
	if hi, err = bound(a[2], hi, n, least, last, "end"); err != nil {
		return nil, err
	}
	if step > 0 && hi < lo || step < 0 && lo < hi {
		hi = lo
	}
	size := 0
	if _, str := a[0].(starlark.String); !str {
		size = 16 * ((max(hi, lo) - min(hi, lo)) / max(step, -step))
	} else if step != 1 {
		size = max(hi, lo) - min(hi, lo)
	}
	if err := charge(t, size); err != nil {
		return nil, err
	}
	return x.Slice(lo, hi, step), nil
}

func bound(v starlark.Value, absent, n, least, last int, what string) (int, error) {
	if v == starlark.None {
		return absent, nil
	}
	i, err := starlark.AsInt32(v)
	if err != nil {
		return 0, fmt.Errorf("invalid %s index: %w", what, err)
	}
	if i < 0 {
		i += n
	}
	return max(least, min(i, last)), nil
}

// reckoned is b with its cost.
func reckoned(b *starlark.Builtin) builtin {
	return func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		cost, err := callCost(t, b.Name(), args, kwargs)
		if err == nil {
			err = charge(t, cost)
		}
		if err != nil {
			return nil, err
		}
		return b.CallInternal(t, args, kwargs)
	}
}

// method is recv.name(...).
func method(t *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	recv, name := a[0], string(a[1].(starlark.String))
	f, err := member(recv, name)
	if err != nil {
		return nil, err
	}
	args := a[2:]
	b, ok := f.(*starlark.Builtin)
	if !ok {
		return starlark.Call(t, f, args, kwargs)
	}
	cost, err := methodCost(t, recv, name, args, kwargs)
	if err == nil {
		err = charge(t, cost)
	}
	if err != nil {
		return nil, err
	}
	return b.CallInternal(t, args, kwargs)
}

func member(recv starlark.Value, name string) (starlark.Value, error) {
	if x, ok := recv.(starlark.HasAttrs); ok {
		if v, err := x.Attr(name); v != nil || err != nil {
			return v, err
		}
	}
	return nil, fmt.Errorf("%s has no .%s field or method", recv.Type(), name)
}

// attribute is recv.name where it is not called at once.
func attribute(_ *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	recv, name := a[0], a[1].(starlark.String)
	v, err := member(recv, string(name))
	if _, ok := v.(*starlark.Builtin); !ok || err != nil {
		return v, err
	}
	return starlark.NewBuiltin(string(name), func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return method(t, nil, append(starlark.Tuple{recv, name}, args...), kwargs)
	}), nil
}

func getattr(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var recv, absent starlark.Value
	var name string
	if err := starlark.UnpackPositionalArgs("getattr", args, kwargs, 2, &recv, &name, &absent); err != nil {
		return nil, err
	}
	v, err := attribute(t, nil, starlark.Tuple{recv, starlark.String(name)}, nil)
	if err != nil && absent != nil {
		return absent, nil
	}
	return v, err
}
