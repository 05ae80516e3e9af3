;; A period is set, and zero means none.
;; covers: proxy_set_tick_period_milliseconds
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_set_tick_period_milliseconds (i32.const 250)))
  (call $tell (call $proxy_set_tick_period_milliseconds (i32.const 0))))
;;> # tick
;;> 1: set_tick_period Some(250ms)
;;> tell 0
;;> 1: set_tick_period None
;;> tell 0
;;> = ()
