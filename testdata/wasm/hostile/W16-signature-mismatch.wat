;; Calls a function through a table with another signature.
(module
  (memory (export "memory") 1 64)
  (func (export "gw_abi_version") (result i32) i32.const 0x10000)
  (func (export "gw_alloc") (param i32) (result i32) i32.const 1024)
  (type $other (func (param i64) (result i32)))
  (table 1 1 funcref)
  (elem (i32.const 0) func $v)
  (func $v)
  (func (export "gw_rank") (param i32 i32) (result i32) (call_indirect (type $other) (i64.const 0) (i32.const 0)))
)
