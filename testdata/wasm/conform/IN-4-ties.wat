;; A ranking by the share of the range of prices that a candidate is into, in whole
;; percent: without a range it divides by zero.
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

  ;; the lowest price and the range, in 2^20 nano-USD
  (func $range (param $p i32) (result i64 i64)
    (local $i i32) (local $low i64) (local $high i64) (local $v i64)
    (local.set $low (i64.const -1))
    (loop $next
      (local.set $v (i64.shr_u (i64.load offset=40 (call $at (local.get $p) (local.get $i))) (i64.const 20)))
      (if (i64.lt_u (local.get $v) (local.get $low)) (then (local.set $low (local.get $v))))
      (if (i64.gt_u (local.get $v) (local.get $high)) (then (local.set $high (local.get $v))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.load offset=8 (local.get $p)))))
    (local.get $low)
    (i64.sub (local.get $high) (local.get $low)))

  (func (export "gw_rank") (param $p i32) (param $len i32) (result i32)
    (local $range i64) (local $low i64) (local $i i32) (local $r i32)
    (if (i32.lt_u (i32.load offset=8 (local.get $p)) (i32.const 2)) (then (return (i32.const 0))))
    (if (i64.eq (i64.load offset=40 (call $at (local.get $p) (i32.const 0))) (i64.const 0x8000000000000000)) (then (return (i32.const 0))))
    (call $range (local.get $p))
    (local.set $range)
    (local.set $low)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (i32.load offset=8 (local.get $p))))
        (local.set $r (call $at (local.get $p) (local.get $i)))
        (f64.store offset=184 (local.get $r) (f64.convert_i64_u
            (i64.div_u
              (i64.mul (i64.sub (i64.shr_u (i64.load offset=40 (local.get $r)) (i64.const 20)) (local.get $low)) (i64.const 100))
              (local.get $range))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (i32.const 0))
)
