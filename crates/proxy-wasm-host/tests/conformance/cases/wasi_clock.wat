;; The time of day and a time that only goes on; no others.
;; covers: clock_time_get, clock_res_get
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 0)))
  (call $tell64 (i64.load (i32.const 0)))
  (call $tell (call $clock_time_get (i32.const 1) (i64.const 0) (i32.const 0)))
  (call $tell64 (i64.load (i32.const 0)))
  (call $tell (call $clock_time_get (i32.const 2) (i64.const 0) (i32.const 0)))
  (call $tell (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 65529)))
  (call $tell (call $clock_res_get (i32.const 0) (i32.const 0)))
  (call $tell64 (i64.load (i32.const 0)))
  (call $tell (call $clock_res_get (i32.const 3) (i32.const 0))))
;;> # tick
;;> tell 0
;;> tell 1700000000000000005
;;> tell 0
;;> tell 2500
;;> tell 58
;;> tell 21
;;> tell 0
;;> tell 1000000
;;> tell 58
;;> = ()
