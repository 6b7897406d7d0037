//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// marker is the name under which this program starts itself to become a tool. Nobody calls it so by accident, and the name alone
// does nothing: what to become is in a sealed memory file that only the parent can have made.
const marker = "flowgen-sandbox: becoming a tool"

// magic begins every description.
const magic = "flowgen sandbox 1\n"

// maxDescription bounds a description: arguments and environment of a process are limited by the system to a part of it.
const maxDescription = 16 << 20

// A description says what the second process becomes. Text that need not be UTF-8 is bytes.
type description struct {
	Parent  int // process
	Keep    int // extra files of the tool
	Program []byte
	Args    [][]byte
	Env     [][]byte
	Grants  []grant
	ABI     int // of Landlock
	Network bool
	UID     int // 0: stays
	GID     int
	Limits  []limit
	Memory  limit  // set last, see image.exec
	Trial   *trial // instead of a program
}

// A limit is a resource limit, soft and hard.
type limit struct {
	Resource int
	Value    uint64
}

// file returns a sealed file that holds d.
func (d *description) file() (*os.File, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("flowgen-sandbox", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), "sandbox description")
	_, err = f.Write(append([]byte(magic), text...))
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("memory file: %w", err)
	}
	return f, nil
}

const seals = unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL

var errDescription = errors.New("started without the description of a tool")

// readDescription reads what file wrote.
func readDescription(fd int) (*description, error) {
	if got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0); err != nil || got&seals != seals {
		return nil, errDescription // no memory file, or one that can still change
	}
	f := os.NewFile(uintptr(fd), "sandbox description")
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxDescription))
	if err != nil {
		return nil, err
	}
	text, ok := bytes.CutPrefix(text, []byte(magic))
	var d description
	if !ok || json.Unmarshal(text, &d) != nil {
		return nil, errDescription
	}
	if d.Parent != os.Getppid() {
		return nil, errors.New("the program that started the tool is gone")
	}
	return &d, nil
}
