;; Randomness, up to 64 KiB at a time.
;; covers: random_get
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $random_get (i32.const 0) (i32.const 16)))
  (call $tell (i64.ne (i64.or (i64.load (i32.const 0)) (i64.load (i32.const 8))) (i64.const 0)))
  (call $tell (call $random_get (i32.const 0) (i32.const 65536)))
  (call $tell (call $random_get (i32.const 0) (i32.const 65537)))
  (call $tell (call $random_get (i32.const 65530) (i32.const 16))))
;;> # tick
;;> tell 0
;;> tell 1
;;> tell 0
;;> tell 28
;;> tell 21
;;> = ()
