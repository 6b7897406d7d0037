package runs

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// keyPatience is how long Key waits for another process that makes the key.
const keyPatience = 10 * time.Second

// Key returns 32 random bytes that belong to the folder. They are made once, so all processes and replicas with the folder have the
// same, also after a restart. A server authenticates with them what it hands to clients and takes back. Only the user of the program
// can read the file. random is crypto/rand.Reader, which programs without a server do not link.
func (f *Folder) Key(random io.Reader) ([]byte, error) {
	name := filepath.Join(f.dir, keyName, logName)
	for begun := time.Now(); ; {
		key, err := f.readKey(name)
		if key != nil || err != nil {
			return key, err
		}
		err = f.makeKey(name, random)
		if err == nil {
			continue // what is read is what is kept
		}
		if !errors.Is(err, wal.ErrLocked) || time.Since(begun) > keyPatience {
			return nil, err
		}
		<-time.After(10 * time.Millisecond) // another process makes it
	}
}

// readKey returns nil when there is no key yet.
func (f *Folder) readKey(name string) ([]byte, error) {
	text, err := f.opts.Disk.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := wal.Recover(text)
	if err != nil {
		return nil, fmt.Errorf("the key of the runs: %w", err)
	}
	if len(found.Lines) == 0 {
		return nil, nil
	}
	return keyOf(found.Lines[0])
}

func keyOf(line []byte) ([]byte, error) {
	var v struct{ Key string }
	if err := json.Unmarshal(line, &v); err != nil {
		return nil, errors.New("the key of the runs is damaged")
	}
	key, err := hex.DecodeString(v.Key)
	if err != nil || len(key) != 32 {
		return nil, errors.New("the key of the runs is damaged")
	}
	return key, nil
}

// makeKey keeps a new key, unless another process was first.
func (f *Folder) makeKey(name string, random io.Reader) error {
	if err := f.mkdir(filepath.Dir(name), true); err != nil {
		return err
	}
	log, found, err := wal.Open(f.opts.Disk, name, f.opts.Sync.mode())
	if err != nil {
		return err
	}
	if len(found.Lines) == 0 {
		key := make([]byte, 32)
		if _, err = io.ReadFull(random, key); err == nil {
			err = log.Append([]byte(`{"key":"`+hex.EncodeToString(key)+`"}`), true)
		}
	}
	return errors.Join(err, log.Close())
}
