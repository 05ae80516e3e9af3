;; Whatever is waited for is there at once.
;; covers: poll_oneoff
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (i64.store (i32.const 64) (i64.const 11))
  (i32.store8 (i32.const 72) (i32.const 0))
  (i64.store (i32.const 88) (i64.const 1000000000000))
  (i64.store (i32.const 112) (i64.const 22))
  (i32.store8 (i32.const 120) (i32.const 2))
  (i32.store (i32.const 128) (i32.const 7))
  (call $tell (call $poll_oneoff (i32.const 64) (i32.const 256) (i32.const 2) (i32.const 0)))
  (call $tell (i32.load (i32.const 0)))
  (call $tell64 (i64.load (i32.const 256)))
  (call $tell (i32.load (i32.const 264)))
  (call $tell64 (i64.load (i32.const 288)))
  (call $tell (i32.load (i32.const 296)))
  (call $tell (call $poll_oneoff (i32.const 64) (i32.const 256) (i32.const 0) (i32.const 0)))
  (call $tell (call $poll_oneoff (i32.const 64) (i32.const 256) (i32.const 65) (i32.const 0)))
  (call $tell (call $poll_oneoff (i32.const 65530) (i32.const 256) (i32.const 1) (i32.const 0)))
  (call $tell (call $poll_oneoff (i32.const 64) (i32.const 65530) (i32.const 1) (i32.const 0))))
;;> # tick
;;> tell 0
;;> tell 2
;;> tell 11
;;> tell 0
;;> tell 22
;;> tell 131080
;;> tell 28
;;> tell 28
;;> tell 21
;;> tell 21
;;> = ()
