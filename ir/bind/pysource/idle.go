package pysource

import (
	"sync"
	"time"
)

// An interpreter takes longer to start than to read most sources, and it remembers nothing of a source that it has read. Those
// that one resolver has started are kept for the next one. They end with this process, when their input does.
var idle struct {
	sync.Mutex
	probes map[string][]*probe // by what they were started with
}

// maxIdle is how many interpreters that were started alike are kept.
const maxIdle = 4

// takeIdle returns an interpreter that was started with key, nil if there is none.
func takeIdle(key string) *probe {
	idle.Lock()
	defer idle.Unlock()
	list := idle.probes[key]
	if len(list) == 0 {
		return nil
	}
	p := list[len(list)-1]
	idle.probes[key] = list[:len(list)-1]
	p.limit.Reset(probeTime)
	return p
}

// release keeps the interpreter for the next compilation, unless it has failed.
func (p *probe) release() {
	if p.broken || !p.limit.Stop() {
		p.close()
		return
	}
	idle.Lock()
	defer idle.Unlock()
	if len(idle.probes[p.key]) >= maxIdle {
		p.close()
		return
	}
	if idle.probes == nil {
		idle.probes = map[string][]*probe{}
	}
	idle.probes[p.key] = append(idle.probes[p.key], p)
}

// limited has the interpreter killed when a compilation has asked it for too long.
func (p *probe) limited(key string, kill func()) {
	p.key, p.limit = key, time.AfterFunc(probeTime, kill)
}
