;; An admission that takes a price that nobody knows for a mistake of the gateway.
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

  ;; record i
  (func $at (param $p i32) (param $i i32) (result i32)
    (i32.add
      (i32.add (local.get $p) (i32.load offset=16 (local.get $p)))
      (i32.mul (local.get $i) (i32.load offset=12 (local.get $p)))))

  (func (export "gw_admit") (param $p i32) (param $len i32) (result i32)
    (local $i i32) (local $r i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (i32.load offset=8 (local.get $p))))
        (local.set $r (call $at (local.get $p) (local.get $i)))
        (if (i64.eq (i64.load offset=40 (local.get $r)) (i64.const 0x8000000000000000)) (then (return (i32.const -2))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (i32.const 0))
)
