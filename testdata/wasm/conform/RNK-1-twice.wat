;; A ranking that tries the cheapest first and then the others as they come. Where two
;; are the cheapest it names one of them twice, in place of the other.
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

  ;; puts candidate i into a place of the order
  (func $place (param $p i32) (param $place i32) (param $i i32)
    (i32.store
      (i32.add (i32.add (local.get $p) (i32.load offset=104 (local.get $p))) (i32.shl (local.get $place) (i32.const 2)))
      (local.get $i)))

  (func (export "gw_rank") (param $p i32) (param $len i32) (result i32)
    (local $i i32) (local $r i32) (local $j i32) (local $n i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (i32.load offset=8 (local.get $p))))
        (local.set $r (call $at (local.get $p) (local.get $i)))
        ;; the first of the cheapest goes to the front, when it is met
        (if (i64.lt_s (i64.load offset=40 (local.get $r)) (i64.load offset=40 (call $at (local.get $p) (local.get $j))))
          (then (local.set $j (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (if (i32.eqz (local.get $i)) (then (return (i32.const 0))))
    (call $place (local.get $p) (i32.const 0) (local.get $j))
    (local.set $n (i32.const 1))
    (local.set $i (i32.const 0))
    (block $all
      (loop $rest
        (br_if $all (i32.ge_u (local.get $i) (i32.load offset=8 (local.get $p))))
        ;; whoever costs as much as the cheapest is taken for it
        (if (i64.ne
              (i64.load offset=40 (call $at (local.get $p) (local.get $i)))
              (i64.load offset=40 (call $at (local.get $p) (local.get $j))))
          (then
            (call $place (local.get $p) (local.get $n) (local.get $i))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $rest)))
    ;; what is missing is filled with the cheapest
    (block $full
      (loop $fill
        (br_if $full (i32.ge_u (local.get $n) (i32.load offset=8 (local.get $p))))
        (call $place (local.get $p) (local.get $n) (local.get $j))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br $fill)))
    (i32.store offset=108 (local.get $p) (local.get $n))
    (local.get $n))
)
