package bad

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"strings"
)

type HookIn struct {
	Q  string
	cb func()
}

type ChanIn struct{ C []chan int }

type QuietIn struct {
	Q string
	n int
}

type Base struct{ X string }

type EmbedIn struct {
	Base
	Y string
}

type NamedEmbedIn struct {
	Base `json:"base"`
}

type Tree struct {
	Name     string
	Children []Tree
}

type quiet struct{ X string }

type QuietTypeIn struct{ Q quiet }

type TwiceIn struct {
	A string `json:"a"`
	B string `json:"a"`
}

type StringIn struct {
	N int `json:"n,string"`
}

type ArrayIn struct{ A [2]int }

type KeysIn struct{ M map[int]string }

type AnyIn struct{ A any }

type ErrIn struct{ E error }

type BytesIn struct{ B []Octet }

type Octet byte

func Hook(in HookIn) error             { in.cb(); return nil }
func HookAgain(in HookIn) error        { return nil }
func Chan(in ChanIn) error             { return nil }
func Quiet(in QuietIn) error           { _ = in.n; return nil }
func Embed(in EmbedIn) error           { return nil }
func NamedEmbed(in NamedEmbedIn) error { return nil }
func Recursive(in Tree) error          { return nil }
func QuietType(in QuietTypeIn) error   { return nil }
func Twice(in TwiceIn) error           { return nil }
func String(in StringIn) error         { return nil }
func Array(in ArrayIn) error           { return nil }
func Keys(in KeysIn) error             { return nil }
func Any(in AnyIn) error               { return nil }
func Err(in ErrIn) error               { return nil }
func Bytes(in BytesIn) error           { return nil }
func Raw(raw json.RawMessage) error    { return nil }
func Big() *big.Int                    { return nil }
func Addr(a netip.Addr) error          { return nil }
func Reader() *strings.Reader          { return nil }
func Complex(c complex128) error       { return nil }
func Pointer(p **string) error         { return nil }
func Anonymous() struct{ X int }       { return struct{ X int }{} }
func Func(f func()) error              { return nil }
