;; What every case begins with. Before it stand imports of the host functions that it calls, each under its own name.
(memory (export "memory") 1)
(global $heap (mut i32) (i32.const 4096))
(func (export "proxy_on_memory_allocate") (param $size i32) (result i32)
  (global.get $heap)
  (global.set $heap (i32.add (global.get $heap) (local.get $size))))
;; Tells the journal a number.
(func $tell (param $number i32)
  (i32.store (i32.const 1024) (local.get $number))
  (drop (call $proxy_log (i32.const 0) (i32.const 1024) (i32.const 4))))
;; Tells the journal a number of eight bytes.
(func $tell64 (param $number i64)
  (i64.store (i32.const 1024) (local.get $number))
  (drop (call $proxy_log (i32.const 0) (i32.const 1024) (i32.const 8))))
;; Shows the journal bytes.
(func $show (param $start i32) (param $len i32)
  (drop (call $proxy_log (i32.const 1) (local.get $start) (local.get $len))))
;; Tells a status and, where it is success, shows the value whose address is at 0 and whose length is at 4.
(func $value (param $status i32)
  (call $tell (local.get $status))
  (if (i32.eqz (local.get $status)) (then (call $show (i32.load (i32.const 0)) (i32.load (i32.const 4))))))
