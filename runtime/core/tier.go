package core

import "github.com/flowgen-dev/flowgen/runtime/value"

// Tier is how well a tool is kept apart from the program and the machine, from not at all to best.
type Tier uint8

// The tiers in their order.
const (
	Native    Tier = iota // runs as the program itself, or as an ordinary process
	Wasm                  // in a WebAssembly machine
	Process               // in a process without rights: resource limits, Landlock, seccomp
	Container             // in a container
	GVisor                // in a container with a kernel of its own
)

var tierNames = [...]string{"native", "wasm", "process", "container", "gvisor"}

// String returns the word the workflow language uses.
func (t Tier) String() string {
	if int(t) < len(tierNames) {
		return tierNames[t]
	}
	return "unknown"
}

// MarshalText writes the word.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the word.
func (t *Tier) UnmarshalText(b []byte) error {
	for i, name := range tierNames {
		if name == string(b) {
			*t = Tier(i)
			return nil
		}
	}
	return value.Invalid("%q is not a sandbox tier", value.Clip(string(b), 40))
}
