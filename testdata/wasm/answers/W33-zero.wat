;; built for version 0.9 of the contract.
(module
  (memory (export "memory") 1 4)
  (func (export "gw_abi_version") (result i32) (i32.const 0x9))
  (func (export "gw_alloc") (param $size i32) (result i32)
    (i32.const 1024))
  (func (export "gw_rank") (param $p i32) (param $len i32) (result i32)
    (i32.const 0)))
