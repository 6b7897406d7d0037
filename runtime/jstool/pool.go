package jstool

import (
	_ "embed"
	"encoding/json"
	"os"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/internal/jsvalue"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

//go:embed worker.js
var script string

// bootstrap reads the worker's own code from the first frame, which keeps it out of the process list.
const bootstrap = `const fs = require("fs");
const all = (n) => { const b = Buffer.alloc(n); for (let i = 0; i < n; ) { const k = fs.readSync(3, b, i, n - i, null); if (!k) process.exit(1); i += k } return b };
const q = JSON.parse(all(all(9).readUInt32BE(0) - 5));
const run = (code) => require("vm").runInThisContext(code, { filename: "flowgen:worker" });
run(q.worker)(require, (u) => import(u), run(q.values)())`

var (
	poolsMu sync.Mutex
	pools   = map[poolKey]*worker.Pool{}
)

// poolKey is what modules must have in common to share processes. Code in a process can change everything in it, and see
// what other calls in it are given.
type poolKey struct {
	interpreter string
	inherit     bool
	module      string // the key of its asset
	secrets     string // their names
	isolation   tool.Isolation
}

// pool returns the processes of m in an isolation, or in none, starting none.
func (m *bound) pool(isolation tool.Isolation, secrets string) *worker.Pool {
	key := poolKey{m.Interpreter, m.Inherit, m.asset.Key, secrets, isolation}
	if m.Inherit && isolation == nil {
		key.module = "" // as in the engine that they were written for
	}
	poolsMu.Lock()
	defer poolsMu.Unlock()
	p := pools[key]
	if p == nil {
		c := config(m.Interpreter)
		if m.Inherit {
			c.Env = os.Environ()
		}
		c.Start = worker.In(isolation, nil) // a module comes over the pipe, and needs nothing else
		p = worker.New(c)
		pools[key] = p
	}
	return p
}

// interpreter returns the path of Node.
func interpreter(explicit string) (string, error) {
	i := worker.Interpreter{Name: "Node", Variable: "FLOWGEN_NODE", Candidates: []string{"node"}, Ask: []string{"-p", "process.execPath"}}
	return i.Find(explicit)
}

func config(explicit string) worker.Config {
	return worker.Config{
		Name:  "Node worker",
		Lanes: 1,
		Command: func() ([]string, error) {
			path, err := interpreter(explicit)
			if err != nil {
				return nil, err
			}
			return []string{path, "--no-warnings", "--unhandled-rejections=warn", "-e", bootstrap}, nil
		},
		Setup: func() ([]byte, error) {
			return json.Marshal(map[string]string{"worker": script, "values": jsvalue.Script})
		},
	}
}
