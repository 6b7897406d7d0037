package temporal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// Converter is for the options of a worker's client: where the input of a run, or a result that it has recorded, cannot be decoded, the run
// waits. The SDK would have it fail when the server of a codec is down for a moment, or a worker has no codec. c is what converts and
// decodes; nil is the SDK's.
func Converter(c converter.DataConverter) converter.DataConverter {
	if c == nil {
		c = converter.GetDefaultDataConverter()
	}
	return patient{c}
}

type patient struct{ converter.DataConverter }

// FromPayload implements converter.DataConverter.
func (p patient) FromPayload(from *common.Payload, to any) error {
	return decoded(p.DataConverter.FromPayload(from, to), to)
}

// FromPayloads implements converter.DataConverter.
func (p patient) FromPayloads(from *common.Payloads, to ...any) error {
	return decoded(p.DataConverter.FromPayloads(from, to...), to...)
}

// undecoded is the error of a payload.
type undecoded struct{ err error }

const cannotDecode = "what it was given or has recorded cannot be decoded"

// Error implements error.
func (u *undecoded) Error() string { return cannotDecode + ": " + u.err.Error() }

// Unwrap returns what has failed.
func (u *undecoded) Unwrap() error { return u.err }

// sameCodec says what to do about payloads that cannot be decoded.
const sameCodec = "start, workers and all other verbs need the codec server of TEMPORAL_CODEC_ENDPOINT, or none of them, and that it runs"

// decoded makes an error about a payload one that says so. What only workflows decode, and cannot do without, is a panic there: it fails the
// task, which Temporal repeats.
func decoded(err error, to ...any) error {
	if err == nil {
		return nil
	}
	err = &undecoded{err}
	if slices.ContainsFunc(to, func(v any) bool {
		switch v.(type) {
		case *given, *got, *[]*engine.Landed:
			return true
		}
		return false
	}) {
		panic("flowgen: " + err.Error())
	}
	return err
}

// isUndecoded reports whether the text of an error is about a payload, and returns what it says.
func isUndecoded(text string) (says string, ok bool) {
	text, _, _ = strings.Cut(text, "\n")
	if _, after, ok := strings.Cut(text, cannotDecode); ok {
		return cannotDecode + after, true
	}
	return "", false
}

// given is the input of a run as it was sent; none is {}.
type given struct{ json.RawMessage }

func (g given) text() json.RawMessage {
	if len(g.RawMessage) == 0 {
		return json.RawMessage("{}")
	}
	return g.RawMessage
}

type setup Setup // without its methods

// UnmarshalJSON implements json.Unmarshaler. What is wrong is told by the run: the SDK's message does not say what belongs there.
func (s *Setup) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, (*setup)(s)); err != nil {
		s.wrong = fmt.Errorf("its second argument is %.100s, and not left out or a JSON object such as {\"tenant\": \"acme\"}", b)
	}
	return nil
}
