package journal

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// take makes an output that a user has given op's own. It is held to more than a recorded one, which op has written
// itself: to the rules of its type, and it has to come back with the same fields and kinds of values, because JSON reads
// null as any zero value and leaves out what it does not know.
func take(op engine.Op, output []byte) error {
	if err := op.DecodeOut(output); err != nil {
		return err
	}
	back, err := op.EncodeOut(nil)
	if err != nil {
		return err
	}
	if string(output) == "null" && string(back) == "{}" { // what a call gives that gives nothing
		return nil
	}
	is, err := value.Parse(back)
	if err != nil {
		return err
	}
	given, err := value.Parse(output)
	if err != nil {
		return err
	}
	if err := lost("", given, is); err != nil {
		return err
	}
	if c, ok := op.(interface{ CheckOut() error }); ok {
		var te *value.ToolError
		if err := c.CheckOut(); errors.As(err, &te) {
			return errors.New(te.Message)
		}
	}
	return nil
}

// lost says what of a value is not in what it was read as.
func lost(at string, given, is value.Value) error {
	switch kind := given.Kind(); {
	case kind == value.MapKind && is.Kind() == value.MapKind:
		for _, k := range given.Keys() {
			a, _ := given.Get(k)
			b, ok := is.Get(k)
			if !ok && !zero(a) { // zero values may be left out
				return fmt.Errorf("unknown field %s", below(at, k))
			}
			if !ok {
				continue
			}
			if err := lost(below(at, k), a, b); err != nil {
				return err
			}
		}
	case kind == value.ListKind && is.Kind() == value.ListKind && given.Len() == is.Len():
		for i := range given.Len() {
			if err := lost(at+"["+strconv.Itoa(i)+"]", given.Index(i), is.Index(i)); err != nil {
				return err
			}
		}
	case numeric(kind) && numeric(is.Kind()):
	case kind != is.Kind() || kind == value.ListKind:
		if at == "" {
			return errors.New("it cannot be " + short(given))
		}
		return fmt.Errorf("%s cannot be %s", at, short(given))
	}
	return nil
}

func below(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func numeric(k value.Kind) bool { return k == value.IntKind || k == value.FloatKind }

func zero(v value.Value) bool {
	switch b, _ := v.MarshalJSON(); string(b) {
	case "null", "false", "0", `""`, "[]", "{}":
		return true
	}
	return false
}
