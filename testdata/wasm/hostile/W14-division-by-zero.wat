;; Divides by zero.
(module
  (memory (export "memory") 1 64)
  (func (export "gw_abi_version") (result i32) i32.const 0x10000)
  (func (export "gw_alloc") (param i32) (result i32) i32.const 1024)
  (func (export "gw_rank") (param i32 i32) (result i32) (i32.div_s (i32.const 1) (i32.sub (local.get 0) (local.get 0))))
)
