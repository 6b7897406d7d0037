package wasmtool

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/tetratelabs/wazero"
)

// compiled is where machine code is kept between runs of programs, and shared by the modules of one; nil keeps it in memory. Compiling
// a module of some megabytes takes seconds, reading its code back a tenth of one. Anyone who can write there runs code in the program, so
// the folder must be the user's alone.
var compiled = sync.OnceValue(func() cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	dir = filepath.Join(dir, "flowgen", "wasm")
	if os.MkdirAll(dir, 0o700) != nil || !private(dir) {
		return nil
	}
	kept, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil
	}
	return kept
})

type cache = wazero.CompilationCache
