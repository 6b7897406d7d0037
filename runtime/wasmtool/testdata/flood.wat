;; A command that writes without end. Assemble: wat2wasm flood.wat
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 16))
    (i32.store (i32.const 4) (i32.const 65536))
    (loop $more (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br $more))))
