package proc

import "encoding/binary"

// The program and its keeper exchange messages of four numbers, in the order of bytes of the machine.

const messageSize = 4 * 4

const (
	kindStart = iota + 1
	kindReap
	kindStarted // value: number of the process
	kindFailed  // value: errno
	kindExited  // value: exit code; or a signal
)

// request goes to the keeper; the descriptors of the child come with it, and size bytes follow.
type request struct {
	kind, id   uint32
	args, size int
}

func (r request) bytes() []byte { return encode(r.kind, r.id, uint32(r.args), uint32(r.size)) }

func parseRequest(b []byte) request {
	n := decode(b)
	return request{n[0], n[1], int(n[2]), int(n[3])}
}

// report comes from the keeper.
type report struct {
	kind, id      uint32
	value, signal int32
}

func (r report) bytes() []byte { return encode(r.kind, r.id, uint32(r.value), uint32(r.signal)) }

func parseReport(b []byte) report {
	n := decode(b)
	return report{n[0], n[1], int32(n[2]), int32(n[3])}
}

func encode(numbers ...uint32) []byte {
	b := make([]byte, 0, messageSize)
	for _, n := range numbers {
		b = binary.NativeEndian.AppendUint32(b, n)
	}
	return b
}

func decode(b []byte) (numbers [4]uint32) {
	for i := range numbers {
		numbers[i] = binary.NativeEndian.Uint32(b[4*i:])
	}
	return numbers
}
