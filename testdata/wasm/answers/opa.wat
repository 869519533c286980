;; A module with the exports of OPA's compiler that misbehaves in the way that
;; the first byte of the input names. A value is the address of its text, with a
;; zero behind it.
(module
  (import "env" "memory" (memory 1))
  (import "env" "opa_abort" (func $abort (param i32)))
  (import "env" "opa_println" (func $println (param i32)))
  (import "env" "opa_builtin0" (func $builtin0 (param i32 i32) (result i32)))
  (import "env" "opa_builtin1" (func $builtin1 (param i32 i32 i32) (result i32)))
  (import "env" "opa_builtin2" (func $builtin2 (param i32 i32 i32 i32) (result i32)))
  (global $major i32 (i32.const 1))
  (global $minor i32 (i32.const 3))
  (global $heap (mut i32) (i32.const 4096))
  (global $calls (mut i32) (i32.const 0))
  (export "memory" (memory 0))
  (export "opa_wasm_abi_version" (global $major))
  (export "opa_wasm_abi_minor_version" (global $minor))
  (data (i32.const 64) "{\"answer\":0,\"other\":1}\00")
  (data (i32.const 128) "{\"test.echo\":0,\"test.fail\":1,\"test.pair\":3}\00")
  (data (i32.const 256) "[{\"result\":")
  (data (i32.const 288) "[]\00")
  (data (i32.const 320) "{\"x\":1}\00")
  (data (i32.const 352) "because it is so\00")
  (data (i32.const 384) "7\00")

  (func (export "entrypoints") (result i32) (i32.const 64))
  (func (export "builtins") (result i32) (i32.const 128))
  (func (export "opa_heap_ptr_get") (result i32) (global.get $heap))
  (func (export "opa_heap_ptr_set") (param i32) (global.set $heap (local.get 0)))
  (func $dump (export "opa_json_dump") (param i32) (result i32) (local.get 0))

  (func $malloc (export "opa_malloc") (param $n i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $heap))
    (global.set $heap (i32.and (i32.add (i32.add (local.get $at) (local.get $n)) (i32.const 15)) (i32.const -8)))
    (if (i32.gt_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536)))
      (then (drop (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get $n) (i32.const 16)))))))
    (local.get $at))

  ;; the text at from, copied with a zero behind it; no value begins with "!"
  (func $parse (export "opa_json_parse") (param $from i32) (param $n i32) (result i32)
    (local $at i32)
    (if (i32.eq (i32.load8_u (local.get $from)) (i32.const 0x21)) (then (return (i32.const 0))))
    (local.set $at (call $malloc (i32.add (local.get $n) (i32.const 1))))
    (memory.copy (local.get $at) (local.get $from) (local.get $n))
    (i32.store8 (i32.add (local.get $at) (local.get $n)) (i32.const 0))
    (local.get $at))

  (func $length (param $at i32) (result i32)
    (local $n i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (i32.load8_u (i32.add (local.get $at) (local.get $n)))))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br $next)))
    (local.get $n))

  ;; the text of a value as the only result
  (func $result (param $value i32) (result i32)
    (local $n i32)
    (local $at i32)
    (local.set $n (call $length (local.get $value)))
    (local.set $at (call $malloc (i32.add (local.get $n) (i32.const 16))))
    (memory.copy (local.get $at) (i32.const 256) (i32.const 11))
    (memory.copy (i32.add (local.get $at) (i32.const 11)) (local.get $value) (local.get $n))
    (i32.store offset=11 (i32.add (local.get $at) (local.get $n)) (i32.const 0x005d7d))
    (local.get $at))

  ;; a digit as the only result
  (func $digit (param $n i32) (result i32)
    (local $at i32)
    (local.set $at (call $malloc (i32.const 4)))
    (i32.store (local.get $at) (i32.add (i32.const 0x30) (local.get $n)))
    (call $result (local.get $at)))

  (func (export "opa_eval") (param $reserved i32) (param $entry i32) (param $data i32) (param $input i32) (param $n i32) (param $top i32) (param $format i32) (result i32)
    (local $mode i32)
    (local $value i32)
    (global.set $heap (local.get $top))
    (local.set $mode (i32.load8_u (local.get $input)))
    ;; e: the input; d: the data; i: the number of the entry point
    (if (i32.eq (local.get $mode) (i32.const 0x65)) (then (return (call $result (call $parse (local.get $input) (local.get $n))))))
    (if (i32.eq (local.get $mode) (i32.const 0x64)) (then (return (call $result (local.get $data)))))
    (if (i32.eq (local.get $mode) (i32.const 0x69)) (then (return (call $digit (local.get $entry)))))
    ;; u: undefined; w: not a list
    (if (i32.eq (local.get $mode) (i32.const 0x75)) (then (return (i32.const 288))))
    (if (i32.eq (local.get $mode) (i32.const 0x77)) (then (return (i32.const 320))))
    ;; n: a result that never ends; o: outside the memory; z: nowhere
    (if (i32.eq (local.get $mode) (i32.const 0x6e)) (then
      (memory.fill (local.get $top) (i32.const 0x78) (i32.sub (i32.mul (memory.size) (i32.const 65536)) (local.get $top)))
      (return (local.get $top))))
    (if (i32.eq (local.get $mode) (i32.const 0x6f)) (then (return (i32.const -16))))
    (if (i32.eq (local.get $mode) (i32.const 0x7a)) (then (return (i32.const 0))))
    ;; h: a result of 2 MiB
    (if (i32.eq (local.get $mode) (i32.const 0x68)) (then
      (local.set $value (call $malloc (i32.const 0x200001)))
      (memory.fill (local.get $value) (i32.const 0x31) (i32.const 0x200000))
      (return (local.get $value))))
    ;; a: aborts; l: never ends; p: prints
    (if (i32.eq (local.get $mode) (i32.const 0x61)) (then (call $abort (i32.const 352))))
    (if (i32.eq (local.get $mode) (i32.const 0x6c)) (then (loop $forever (br $forever))))
    (if (i32.eq (local.get $mode) (i32.const 0x70)) (then (call $println (i32.const 352)) (return (call $digit (i32.const 1)))))
    ;; b: a built-in of the input; c: one that does not exist; f: one that fails;
    ;; 2: one of two arguments; q: a built-in without end
    (if (i32.eq (local.get $mode) (i32.const 0x62)) (then
      (return (call $result (call $builtin1 (i32.const 0) (i32.const 0) (call $parse (i32.add (local.get $input) (i32.const 1)) (i32.sub (local.get $n) (i32.const 1))))))))
    (if (i32.eq (local.get $mode) (i32.const 0x63)) (then (return (call $result (call $builtin1 (i32.const 77) (i32.const 0) (i32.const 384))))))
    (if (i32.eq (local.get $mode) (i32.const 0x66)) (then
      (return (select (i32.const 320) (i32.const 288) (call $builtin0 (i32.const 1) (i32.const 0))))))
    (if (i32.eq (local.get $mode) (i32.const 0x32)) (then
      (return (call $result (call $builtin2 (i32.const 3) (i32.const 0) (i32.const 384) (call $parse (i32.add (local.get $input) (i32.const 1)) (i32.sub (local.get $n) (i32.const 1))))))))
    (if (i32.eq (local.get $mode) (i32.const 0x71)) (then
      (loop $storm (drop (call $builtin1 (i32.const 0) (i32.const 0) (i32.const 384))) (br $storm))))
    ;; s, t: how often it was asked, counted in a global and above the heap
    (if (i32.eq (local.get $mode) (i32.const 0x73)) (then
      (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (return (call $digit (global.get $calls)))))
    (if (i32.eq (local.get $mode) (i32.const 0x74)) (then
      (i32.store (i32.const 200000) (i32.add (i32.load (i32.const 200000)) (i32.const 1)))
      (return (call $digit (i32.load (i32.const 200000))))))
    ;; g: grows its memory
    (if (i32.eq (local.get $mode) (i32.const 0x67)) (then (drop (memory.grow (i32.const 1))) (return (call $digit (i32.const 1)))))
    unreachable)
)
