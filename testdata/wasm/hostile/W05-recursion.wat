;; A function that calls itself without end.
(module
  (memory (export "memory") 1 64)
  (func (export "gw_abi_version") (result i32) i32.const 0x10000)
  (func (export "gw_alloc") (param i32) (result i32) i32.const 1024)
  (func $deeper (param i32) (result i32)
    (i32.add (call $deeper (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func (export "gw_rank") (param i32 i32) (result i32)
    (call $deeper (i32.const 0)))
)
