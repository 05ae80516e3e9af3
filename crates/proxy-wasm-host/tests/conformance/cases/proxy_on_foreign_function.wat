;; A function of the module's is called, and its arguments can be read until it returns.
;; covers: proxy_on_foreign_function
;; do: foreign_function 3 arguments, tick
(func (export "proxy_on_foreign_function") (param i32 i32 i32)
  (call $tell (local.get 1))
  (call $tell (local.get 2))
  (call $value (call $proxy_get_buffer_bytes (i32.const 8) (i32.const 0) (i32.const 100) (i32.const 0) (i32.const 4))))
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_buffer_bytes (i32.const 8) (i32.const 0) (i32.const 100) (i32.const 0) (i32.const 4))))
;;> # foreign_function 3 arguments
;;> tell 3
;;> tell 9
;;> tell 0
;;> show "arguments"
;;> = ()
;;> # tick
;;> tell 0
;;> show ""
;;> = ()
