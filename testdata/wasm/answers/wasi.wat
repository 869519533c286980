;; A ranking that asks WASI for what Go's runtime asks for, and puts the answers
;; into the scores of the first candidates. attempt_budget says what it does.
(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_fdstat_get" (func $stat (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 2 8)
  (data (i32.const 64) "some words")

  (func (export "gw_abi_version") (result i32) (i32.const 0x10000))
  (func (export "gw_alloc") (param $size i32) (result i32)
    (select (i32.const 4096) (i32.const 0) (i32.le_u (local.get $size) (i32.const 100000))))

  (func $score (param $p i32) (param $i i32) (param $v i64)
    (f64.store offset=344
      (i32.add (local.get $p) (i32.mul (local.get $i) (i32.load offset=12 (local.get $p))))
      (f64.convert_i64_u (local.get $v))))
  (func $code (param $p i32) (param $i i32) (param $v i32)
    (call $score (local.get $p) (local.get $i) (i64.extend_i32_u (local.get $v))))

  ;; sleeps 5 ms, as Go's runtime does
  (func $sleep (result i32)
    (memory.fill (i32.const 128) (i32.const 0) (i32.const 48))
    (i64.store (i32.const 128) (i64.const 42))
    (i64.store offset=24 (i32.const 128) (i64.const 5000000))
    (call $poll (i32.const 128) (i32.const 256) (i32.const 1) (i32.const 320)))

  (func (export "gw_rank") (param $p i32) (param $len i32) (result i32)
    (local $mode i32)
    (local.set $mode (i32.load offset=140 (local.get $p)))
    ;; 100: clock, sleep, clock, randomness twice
    (if (i32.eq (local.get $mode) (i32.const 100)) (then
      (call $code (local.get $p) (i32.const 0) (call $clock (i32.const 0) (i64.const 1) (i32.const 8)))
      (call $score (local.get $p) (i32.const 1) (i64.load (i32.const 8)))
      (call $code (local.get $p) (i32.const 2) (call $sleep))
      (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 8)))
      (call $score (local.get $p) (i32.const 3) (i64.load (i32.const 8)))
      (call $score (local.get $p) (i32.const 4) (i64.load (i32.const 256)))
      (call $code (local.get $p) (i32.const 5) (i32.load (i32.const 320)))
      (drop (call $random (i32.const 8) (i32.const 4)))
      (call $code (local.get $p) (i32.const 6) (i32.load (i32.const 8)))
      (drop (call $random (i32.const 8) (i32.const 4)))
      (call $code (local.get $p) (i32.const 7) (i32.load (i32.const 8)))))
    ;; 101: writes to the standard output, and to a file
    (if (i32.eq (local.get $mode) (i32.const 101)) (then
      (i32.store (i32.const 400) (i32.const 64))
      (i32.store (i32.const 404) (i32.const 10))
      (i32.store (i32.const 408) (i32.const 64))
      (i32.store (i32.const 412) (i32.const 4))
      (call $code (local.get $p) (i32.const 0) (call $write (i32.const 1) (i32.const 400) (i32.const 2) (i32.const 8)))
      (call $code (local.get $p) (i32.const 1) (i32.load (i32.const 8)))
      (call $code (local.get $p) (i32.const 2) (call $write (i32.const 5) (i32.const 400) (i32.const 2) (i32.const 8)))
      (call $code (local.get $p) (i32.const 3) (call $write (i32.const 1) (i32.const 400) (i32.const 100000) (i32.const 8)))))
    ;; 102: files, arguments
    (if (i32.eq (local.get $mode) (i32.const 102)) (then
      (i32.store (i32.const 8) (i32.const -1))
      (i32.store (i32.const 12) (i32.const -1))
      (call $code (local.get $p) (i32.const 0) (call $stat (i32.const 1) (i32.const 512)))
      (call $code (local.get $p) (i32.const 1) (i32.load8_u (i32.const 512)))
      (call $code (local.get $p) (i32.const 2) (call $stat (i32.const 3) (i32.const 512)))
      (call $code (local.get $p) (i32.const 3) (call $close (i32.const 3)))
      (call $code (local.get $p) (i32.const 4) (call $prestat (i32.const 3) (i32.const 512)))
      (call $code (local.get $p) (i32.const 5) (call $sizes (i32.const 8) (i32.const 12)))
      (call $code (local.get $p) (i32.const 6) (i32.add (i32.load (i32.const 8)) (i32.load (i32.const 12))))
      (call $code (local.get $p) (i32.const 7) (call $args (i32.const 8) (i32.const 12)))))
    ;; 103: exits; 104: a clock outside its memory; 105: a poll of nothing
    (if (i32.eq (local.get $mode) (i32.const 103)) (then (call $exit (i32.const 3))))
    (if (i32.eq (local.get $mode) (i32.const 104)) (then (drop (call $clock (i32.const 0) (i64.const 1) (i32.const -4)))))
    (if (i32.eq (local.get $mode) (i32.const 105)) (then
      (call $code (local.get $p) (i32.const 0) (call $poll (i32.const 128) (i32.const 256) (i32.const 0) (i32.const 320)))))
    ;; 106: writes 1 GiB
    (if (i32.eq (local.get $mode) (i32.const 106)) (then
      (i32.store (i32.const 400) (i32.const 0))
      (i32.store (i32.const 404) (i32.const 131072))
      (loop $much (drop (call $write (i32.const 2) (i32.const 400) (i32.const 1) (i32.const 8))) (br $much))))
    ;; 107: a list of buffers outside its memory; 108: randomness for all of its memory and more
    (if (i32.eq (local.get $mode) (i32.const 107)) (then (drop (call $write (i32.const 1) (i32.const -8) (i32.const 2) (i32.const 8)))))
    (if (i32.eq (local.get $mode) (i32.const 108)) (then (drop (call $random (i32.const 0) (i32.const -1)))))
    (i32.const 0))
)
