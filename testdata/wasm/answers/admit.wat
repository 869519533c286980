;; An admission that misbehaves in the way that the request's attempt_budget
;; names. Below 100 it admits everybody.
(module
  (memory (export "memory") 1 4)
  (func (export "gw_abi_version") (result i32) (i32.const 0x10000))
  (func (export "gw_alloc") (param $size i32) (result i32)
    (if (result i32) (i32.gt_u (local.get $size) (i32.const 40000))
      (then (i32.const 0))
      (else (i32.const 1024))))

  (func $verdict (param $p i32) (param $i i32) (param $reason i32) (param $until i64)
    (local $r i32)
    (local.set $r (i32.add (local.get $p) (i32.mul (local.get $i) (i32.load offset=12 (local.get $p)))))
    (i32.store offset=192 (local.get $r) (local.get $reason))
    (i64.store offset=352 (local.get $r) (local.get $until)))
  (func $refuse (param $p i32) (param $status i32) (param $retry i32) (param $reason i32)
    (i32.store offset=128 (local.get $p) (local.get $status))
    (i32.store offset=132 (local.get $p) (local.get $retry))
    (i32.store offset=136 (local.get $p) (local.get $reason)))

  (func (export "gw_admit") (param $p i32) (param $len i32) (result i32)
    (local $mode i32)
    (local.set $mode (i32.load offset=140 (local.get $p)))
    (if (i32.lt_u (local.get $mode) (i32.const 100)) (then (return (i32.const 0))))
    ;; 100: removes the second, until an instant
    (if (i32.eq (local.get $mode) (i32.const 100)) (then
      (call $verdict (local.get $p) (i32.const 1) (i32.const 1) (i64.const 1790000000000))
      (return (i32.const 1))))
    ;; 101: a reason that the module does not have
    (if (i32.eq (local.get $mode) (i32.const 101)) (then
      (call $verdict (local.get $p) (i32.const 1) (i32.const 2) (i64.const 1790000000000))
      (return (i32.const 1))))
    ;; 102: says that it removed more than it did
    (if (i32.eq (local.get $mode) (i32.const 102)) (then
      (call $verdict (local.get $p) (i32.const 1) (i32.const 1) (i64.const 1790000000000))
      (return (i32.const 2))))
    ;; 103: until an instant that does not exist
    (if (i32.eq (local.get $mode) (i32.const 103)) (then
      (call $verdict (local.get $p) (i32.const 0) (i32.const 1) (i64.const -1))
      (return (i32.const 1))))
    ;; 104: refuses the request
    (if (i32.eq (local.get $mode) (i32.const 104)) (then
      (call $refuse (local.get $p) (i32.const 429) (i32.const 60) (i32.const 1))
      (return (i32.const 0))))
    ;; 105: a status that no refusal has
    (if (i32.eq (local.get $mode) (i32.const 105)) (then
      (call $refuse (local.get $p) (i32.const 200) (i32.const 0) (i32.const 1))
      (return (i32.const 0))))
    ;; 106: a reason without a status
    (if (i32.eq (local.get $mode) (i32.const 106)) (then
      (call $refuse (local.get $p) (i32.const 0) (i32.const 0) (i32.const 1))
      (return (i32.const 0))))
    ;; 107: a wait of 136 years
    (if (i32.eq (local.get $mode) (i32.const 107)) (then
      (call $refuse (local.get $p) (i32.const 429) (i32.const -1) (i32.const 1))
      (return (i32.const 0))))
    ;; 108: a refusal's reason that the module does not have
    (if (i32.eq (local.get $mode) (i32.const 108)) (then
      (call $refuse (local.get $p) (i32.const 403) (i32.const 0) (i32.const 9))
      (return (i32.const 0))))
    (i32.const -2))
)
