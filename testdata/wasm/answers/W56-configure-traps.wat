;; gw_configure traps when the parameters are longer than 2 bytes.
(module
  (memory (export "memory") 1 4)
  (func (export "gw_abi_version") (result i32) (i32.const 0x10000))
  (func (export "gw_alloc") (param $size i32) (result i32)
    (i32.const 1024))
  (func (export "gw_configure") (param $p i32) (param $len i32) (result i32)
    (if (i32.gt_u (local.get $len) (i32.const 2)) (then unreachable))
    (i32.const 0))
  (func (export "gw_rank") (param $p i32) (param $len i32) (result i32)
    (i32.const 0)))
