;; First `_initialize`, then `main`, with no arguments; both may only log.
;; covers: _initialize, main
;; do: 
(func (export "_initialize")
  (call $tell (i32.const 1))
  (call $tell (call $proxy_set_tick_period_milliseconds (i32.const 5)))
  (call $tell (call $proxy_get_buffer_bytes (i32.const 7) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 4))))
(func (export "main") (param i32 i32) (result i32)
  (call $tell (local.get 0)) (call $tell (local.get 1)) (i32.const 0))
(func (export "_start") (call $tell (i32.const 99)))
;;> tell 1
;;> tell 10
;;> tell 10
;;> tell 0
;;> tell 0
