package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Events reads a stream of server-sent events (WHATWG HTML, 9.2.6) and hands each one's data to f until f says that it
// was the last, by returning true, or the stream ends: whether something is missing then is for the caller to see.
// Comments, ids and retry fields are left out; the event's type is handed over, empty when there is none.
func (s *Service) Events(resp *http.Response, f func(event, data string) (last bool, err error)) error {
	host := resp.Request.URL.Host
	in := bufio.NewReaderSize(resp.Body, 4<<10)
	var event string
	var data bytes.Buffer
	has, total := false, 0
	for {
		line, err := readLine(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			var te *value.ToolError
			if errors.As(err, &te) {
				return value.Errorf(te.Code, "%s sends an event that is larger than the %d bytes allowed", host, maxLine)
			}
			return s.Failed(resp, err)
		}
		if total += len(line) + 1; total > maxBody {
			return value.Errorf(value.PolicyDenied, "the answer of %s is larger than the %d bytes allowed", host, maxBody)
		}
		if len(line) == 0 {
			if has {
				last, err := f(event, data.String())
				if err != nil || last {
					return err
				}
			}
			event, has = "", false
			data.Reset()
			continue
		}
		name, v, _ := bytes.Cut(line, []byte(":"))
		v = bytes.TrimPrefix(v, []byte(" "))
		switch string(name) {
		case "event":
			event = string(v)
		case "data":
			if has {
				data.WriteByte('\n')
			}
			has = true
			data.Write(v)
		}
	}
}

// readLine reads a line that ends in LF or CRLF, without its end. A last line without one is not a line. The slice is good until the next call.
func readLine(in *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		if err == nil && long == nil {
			return bytes.TrimRight(part, "\r\n"), nil
		}
		if len(long)+len(part) > maxLine {
			return nil, value.Errorf(value.PolicyDenied, "too long")
		}
		long = append(long, part...)
		if err == nil {
			return bytes.TrimRight(long, "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}
