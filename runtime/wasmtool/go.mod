module github.com/flowgen-dev/flowgen/runtime/wasmtool

go 1.26.0

require (
	github.com/flowgen-dev/flowgen/runtime v0.0.0
	github.com/tetratelabs/wazero v1.12.0
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/flowgen-dev/flowgen/runtime => ..
