;; A ranking by price with a buffer that was large enough when it was tried.
(module
  (memory (export "memory") 1 64)
  (func (export "gw_abi_version") (result i32) (i32.const 0x10000))
  ;; room for 60 candidates, and never more
  (func (export "gw_alloc") (param $size i32) (result i32)
    (select (i32.const 1024) (i32.const 0) (i32.le_u (local.get $size) (i32.const 20000))))

  ;; record i
  (func $at (param $p i32) (param $i i32) (result i32)
    (i32.add
      (i32.add (local.get $p) (i32.load offset=16 (local.get $p)))
      (i32.mul (local.get $i) (i32.load offset=12 (local.get $p)))))

  (func (export "gw_rank") (param $p i32) (param $len i32) (result i32)
    (local $i i32) (local $r i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (i32.load offset=8 (local.get $p))))
        (local.set $r (call $at (local.get $p) (local.get $i)))
        (f64.store offset=184 (local.get $r) (f64.convert_i64_s (i64.load offset=40 (local.get $r))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (i32.const 0))
)
