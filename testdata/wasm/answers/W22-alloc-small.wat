;; gw_alloc has room for 8,000 bytes.
(module
  (memory (export "memory") 1 4)
  (func (export "gw_abi_version") (result i32) (i32.const 0x10000))
  (func (export "gw_alloc") (param $size i32) (result i32)
    (select (i32.const 1024) (i32.const 0) (i32.le_u (local.get $size) (i32.const 8000))))
  (func (export "gw_rank") (param $p i32) (param $len i32) (result i32)
    (i32.const 0)))
