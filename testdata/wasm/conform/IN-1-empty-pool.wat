;; A ranking by the distance to the mean price, which divides by the number of
;; candidates before it looks whether there is one.
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

  (func $mean (param $p i32) (result i64)
    (local $i i32) (local $sum i64)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (i32.load offset=8 (local.get $p))))
        (local.set $sum (i64.add (local.get $sum)
          (i64.shr_u (i64.load offset=40 (call $at (local.get $p) (local.get $i))) (i64.const 10))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (i64.shl (i64.div_u (local.get $sum) (i64.load32_u offset=8 (local.get $p))) (i64.const 10)))

  (func (export "gw_rank") (param $p i32) (param $len i32) (result i32)
    (local $mean i64) (local $i i32) (local $r i32)
    (local.set $mean (call $mean (local.get $p)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (i32.load offset=8 (local.get $p))))
        (local.set $r (call $at (local.get $p) (local.get $i)))
        (f64.store offset=184 (local.get $r) (f64.abs (f64.sub (f64.convert_i64_s (i64.load offset=40 (local.get $r))) (f64.convert_i64_s (local.get $mean)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (i32.const 0))
)
