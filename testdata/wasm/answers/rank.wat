;; A ranking that misbehaves in the way that the request's attempt_budget names.
;; Below 100 it ranks the candidates as they come, by scores 0, 1, 2, …
(module
  (import "gw" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 2 8)
  (global $calls (mut i32) (i32.const 0))
  (data (i32.const 64) "\c3\28 not UTF-8")
  (data (i32.const 96) "no data for this region")

  (func (export "gw_abi_version") (result i32) (i32.const 0x10000))
  (func (export "gw_alloc") (param $size i32) (result i32)
    (if (result i32) (i32.gt_u (local.get $size) (i32.const 100000))
      (then (i32.const 0))
      (else (i32.const 4096))))

  (func $count (param $p i32) (result i32) (i32.load offset=8 (local.get $p)))
  (func $order (param $p i32) (result i32) (i32.add (local.get $p) (i32.load offset=104 (local.get $p))))

  ;; score of record i
  (func $score (param $p i32) (param $i i32) (param $s f64)
    (f64.store offset=344
      (i32.add (local.get $p) (i32.mul (local.get $i) (i32.load offset=12 (local.get $p))))
      (local.get $s)))

  (func $honest (param $p i32) (result i32)
    (local $i i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (call $count (local.get $p))))
        (call $score (local.get $p) (local.get $i) (f64.convert_i32_u (local.get $i)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (i32.const 0))

  ;; an order of one entry, or of two
  (func $one (param $p i32) (param $a i32) (result i32)
    (i32.store (call $order (local.get $p)) (local.get $a))
    (i32.store offset=108 (local.get $p) (i32.const 1))
    (i32.const 1))
  (func $two (param $p i32) (param $a i32) (param $b i32) (result i32)
    (i32.store (call $order (local.get $p)) (local.get $a))
    (i32.store offset=4 (call $order (local.get $p)) (local.get $b))
    (i32.store offset=108 (local.get $p) (i32.const 2))
    (i32.const 2))

  ;; a message of n bytes at from
  (func $say (param $p i32) (param $from i32) (param $n i32)
    (memory.copy
      (i32.add (local.get $p) (i32.load offset=112 (local.get $p)))
      (local.get $from)
      (select (local.get $n) (i32.const 256) (i32.lt_u (local.get $n) (i32.const 256))))
    (i32.store offset=120 (local.get $p) (local.get $n)))

  (func $recurse (param $n i32) (result i32)
    (i32.add (i32.const 1) (call $recurse (i32.add (local.get $n) (i32.const 1)))))

  (func $spin (param $turns i32)
    (loop $again
      (local.set $turns (i32.sub (local.get $turns) (i32.const 1)))
      (br_if $again (local.get $turns))))

  (func (export "gw_rank") (param $p i32) (param $len i32) (result i32)
    (local $mode i32)
    (local $i i32)
    (local.set $mode (i32.load offset=140 (local.get $p)))
    (if (i32.lt_u (local.get $mode) (i32.const 100)) (then (return (call $honest (local.get $p)))))
    (drop (call $honest (local.get $p)))

    ;; 100: an order that names one twice
    (if (i32.eq (local.get $mode) (i32.const 100)) (then (return (call $two (local.get $p) (i32.const 1) (i32.const 1)))))
    ;; 101: the first that is not there
    (if (i32.eq (local.get $mode) (i32.const 101)) (then (return (call $one (local.get $p) (call $count (local.get $p))))))
    ;; 102: one far away
    (if (i32.eq (local.get $mode) (i32.const 102)) (then (return (call $one (local.get $p) (i32.const -1)))))
    ;; 103: a million entries
    (if (i32.eq (local.get $mode) (i32.const 103)) (then
      (i32.store offset=108 (local.get $p) (i32.const 1000000))
      (return (i32.const 1000000))))
    ;; 104: an order without a count
    (if (i32.eq (local.get $mode) (i32.const 104)) (then (return (i32.const 2))))
    ;; 105, 106: infinite scores
    (if (i32.eq (local.get $mode) (i32.const 105)) (then (call $score (local.get $p) (i32.const 1) (f64.const inf)) (return (i32.const 0))))
    (if (i32.eq (local.get $mode) (i32.const 106)) (then (call $score (local.get $p) (i32.const 0) (f64.const -inf)) (return (i32.const 0))))
    ;; 107: odd scores that are allowed
    (if (i32.eq (local.get $mode) (i32.const 107)) (then
      (call $score (local.get $p) (i32.const 0) (f64.const nan:0x7))
      (call $score (local.get $p) (i32.const 1) (f64.const -0x0p+0))
      (call $score (local.get $p) (i32.const 2) (f64.const 1e308))
      (return (i32.const 0))))
    ;; 108: one that is skipped, first: allowed, without effect
    (if (i32.eq (local.get $mode) (i32.const 108)) (then (return (call $two (local.get $p) (i32.const 2) (i32.const 0)))))
    ;; 109, 110, 111: messages that are too long, much too long, not UTF-8
    (if (i32.eq (local.get $mode) (i32.const 109)) (then (call $say (local.get $p) (i32.const 96) (i32.const 257)) (return (i32.const 0))))
    (if (i32.eq (local.get $mode) (i32.const 110)) (then (call $say (local.get $p) (i32.const 96) (i32.const 0x80000000)) (return (i32.const 0))))
    (if (i32.eq (local.get $mode) (i32.const 111)) (then (call $say (local.get $p) (i32.const 64) (i32.const 10)) (return (i32.const 0))))
    ;; 112 to 116: return codes
    (if (i32.eq (local.get $mode) (i32.const 112)) (then (return (i32.const -1))))
    (if (i32.eq (local.get $mode) (i32.const 113)) (then (return (i32.const -2))))
    (if (i32.eq (local.get $mode) (i32.const 114)) (then (return (i32.const -3))))
    (if (i32.eq (local.get $mode) (i32.const 115)) (then (call $say (local.get $p) (i32.const 96) (i32.const 23)) (return (i32.const -100))))
    (if (i32.eq (local.get $mode) (i32.const 116)) (then (return (i32.const -50))))
    ;; 117: gives up
    (if (i32.eq (local.get $mode) (i32.const 117)) (then unreachable))
    ;; 118: never ends
    (if (i32.eq (local.get $mode) (i32.const 118)) (then (loop $forever (br $forever))))
    ;; 119: grows its memory and is honest
    (if (i32.eq (local.get $mode) (i32.const 119)) (then (drop (memory.grow (i32.const 1))) (return (i32.const 0))))
    ;; 120: grows its memory until there is no more, and traps
    (if (i32.eq (local.get $mode) (i32.const 120)) (then
      (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
      unreachable))
    ;; 121: puts other offsets into the header, and an honest order
    (if (i32.eq (local.get $mode) (i32.const 121)) (then
      (drop (call $two (local.get $p) (i32.const 1) (i32.const 0)))
      (memory.fill (local.get $p) (i32.const 0xff) (i32.const 24))
      (i32.store offset=104 (local.get $p) (i32.const -1))
      (i32.store offset=112 (local.get $p) (i32.const -1))
      (return (i32.const 2))))
    ;; 122: fills all of its memory
    (if (i32.eq (local.get $mode) (i32.const 122)) (then
      (memory.fill (i32.const 0) (i32.const 0xff) (i32.mul (memory.size) (i32.const 65536)))
      (return (i32.const 0))))
    ;; 123: calls itself without end
    (if (i32.eq (local.get $mode) (i32.const 123)) (then (return (call $recurse (i32.const 0)))))
    ;; 124: logs 1,000 lines of 64 KiB
    (if (i32.eq (local.get $mode) (i32.const 124)) (then
      (loop $lines
        (call $log (i32.const 1) (i32.const 0) (i32.const 65536))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $lines (i32.lt_u (local.get $i) (i32.const 1000))))
      (return (i32.const 0))))
    ;; 125: logs what it does not have
    (if (i32.eq (local.get $mode) (i32.const 125)) (then
      (call $log (i32.const 1) (i32.const 0xfffffff0) (i32.const 0x20))
      (return (i32.const 0))))
    ;; 126: says how often it was called, as the score of candidate 0
    (if (i32.eq (local.get $mode) (i32.const 126)) (then
      (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (call $score (local.get $p) (i32.const 0) (f64.convert_i32_u (global.get $calls)))
      (return (i32.const 0))))
    ;; 127: the same, counted in the memory outside of the buffer
    (if (i32.eq (local.get $mode) (i32.const 127)) (then
      (i32.store (i32.const 120000) (i32.add (i32.load (i32.const 120000)) (i32.const 1)))
      (call $score (local.get $p) (i32.const 0) (f64.convert_i32_u (i32.load (i32.const 120000))))
      (return (i32.const 0))))
    ;; 128: takes as many turns as the request may have output tokens
    (if (i32.eq (local.get $mode) (i32.const 128)) (then
      (call $spin (i32.load offset=44 (local.get $p)))
      (return (i32.const 0))))
    ;; 129: one line at each level
    (if (i32.eq (local.get $mode) (i32.const 129)) (then
      (call $log (i32.const 0) (i32.const 96) (i32.const 2))
      (call $log (i32.const 1) (i32.const 96) (i32.const 7))
      (call $log (i32.const 2) (i32.const 64) (i32.const 12))
      (call $log (i32.const 3) (i32.const 96) (i32.const 23))
      (call $log (i32.const 77) (i32.const 96) (i32.const 0))
      (return (i32.const 0))))
    ;; 130: 16 MiB of fills
    (if (i32.eq (local.get $mode) (i32.const 130)) (then
      (loop $fills
        (memory.fill (i32.const 110000) (i32.const 1) (i32.const 8192))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $fills (i32.lt_u (local.get $i) (i32.const 2048))))
      (return (i32.const 0))))
    ;; 131: divides by zero; 132: reads beyond its memory
    (if (i32.eq (local.get $mode) (i32.const 131)) (then (return (i32.div_u (i32.const 1) (i32.sub (local.get $mode) (i32.const 131))))))
    (if (i32.eq (local.get $mode) (i32.const 132)) (then (return (i32.load (i32.const -4)))))
    (i32.const -2))
)
