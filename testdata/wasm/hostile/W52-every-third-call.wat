;; Traps on every third call.
(module
  (memory (export "memory") 1 64)
  (func (export "gw_abi_version") (result i32) i32.const 0x10000)
  (func (export "gw_alloc") (param i32) (result i32) i32.const 1024)
  (global $n (mut i32) (i32.const 0))
  (func (export "gw_rank") (param i32 i32) (result i32)
    (global.set $n (i32.add (global.get $n) (i32.const 1)))
    (if (i32.eqz (i32.rem_u (global.get $n) (i32.const 3))) (then unreachable))
    i32.const 0)
)
