;; An admission that refuses who has no budget left, with a status that is not a
;; refusal's.
(module
  (memory (export "memory") 1 64)
  (func (export "gw_abi_version") (result i32) (i32.const 0x10000))
  ;; a buffer at 1,024, with memory that grows as it must
  (func (export "gw_alloc") (param $size i32) (result i32)
    (local $pages i32)
    (local.set $pages (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 2)))
    (if (i32.gt_u (local.get $pages) (memory.size)) (then
      (if (i32.eq (memory.grow (i32.sub (local.get $pages) (memory.size))) (i32.const -1))
        (then (return (i32.const 0))))))
    (i32.const 1024))

  (func (export "gw_admit") (param $p i32) (param $len i32) (result i32)
    (if (i64.le_s (i64.load offset=56 (local.get $p)) (i64.const 0)) (then
      (i32.store offset=128 (local.get $p) (i32.const 503))))
    (i32.const 0))
)
