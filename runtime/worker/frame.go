package worker

import "encoding/binary"

// A frame is, in big endian:
//
//	4 bytes   the number of bytes that follow
//	4 bytes   id of the call; 0 for what belongs to none
//	1 byte    kind
//	n bytes   body

// Kinds of frames.
const (
	kindSetup    = 'S' // to the worker: its configuration, answered by kindReady
	kindAsset    = 'A' // to the worker: an Asset
	kindCall     = 'C' // to the worker: a call, answered by kindResult or kindError
	kindCancel   = 'X' // to the worker: end that call, answered by either or kindRuns
	kindReady    = 'H' // from the worker
	kindResult   = 'R' // from the worker: the result
	kindAttached = 'T' // from the worker, before the result: what the call has attached, see attach.go
	kindLogs     = 'P' // from the worker, before the result: what the call has printed, when the call asks for it
	kindError    = 'E' // from the worker: an error object, see errors.go
	kindRuns     = 'K' // from the worker: the call that was to end still runs
)

const (
	headerSize = 9
	maxLogs    = 64 << 10  // bytes of a frame of what a call has printed
	maxError   = 256 << 10 // bytes of an error object; workers bound theirs far below
)

// frame appends a frame to b. The parts are its body.
func frame(b []byte, id uint32, kind byte, parts ...[]byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(size(parts)+headerSize-4))
	b = binary.BigEndian.AppendUint32(b, id)
	b = append(b, kind)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func size(parts [][]byte) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}

type header struct {
	size int // of the body
	id   uint32
	kind byte
}

// parseHeader reads the beginning of a frame. ok is false for one that cannot be.
func parseHeader(b []byte) (h header, ok bool) {
	n := binary.BigEndian.Uint32(b)
	h.id = binary.BigEndian.Uint32(b[4:])
	h.kind = b[8]
	h.size = int(n) - (headerSize - 4)
	return h, n >= headerSize-4 && n < 1<<31
}
