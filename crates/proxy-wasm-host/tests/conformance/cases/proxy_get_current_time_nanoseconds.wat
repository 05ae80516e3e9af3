;; The time has eight bytes.
;; covers: proxy_get_current_time_nanoseconds
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_get_current_time_nanoseconds (i32.const 0)))
  (call $tell64 (i64.load (i32.const 0)))
  (call $tell (call $proxy_get_current_time_nanoseconds (i32.const 65529))))
;;> # tick
;;> tell 0
;;> tell 1700000000000000005
;;> tell 6
;;> = ()
