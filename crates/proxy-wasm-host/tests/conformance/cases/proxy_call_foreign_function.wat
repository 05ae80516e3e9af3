;; A function that the host has, and one that it has not.
;; covers: proxy_call_foreign_function
;; do: tick
(data (i32.const 16) "reverse")
(data (i32.const 32) "abc")
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_call_foreign_function (i32.const 16) (i32.const 7) (i32.const 32) (i32.const 3) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_call_foreign_function (i32.const 16) (i32.const 7) (i32.const 32) (i32.const 0) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_call_foreign_function (i32.const 16) (i32.const 6) (i32.const 32) (i32.const 3) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_call_foreign_function (i32.const 16) (i32.const 7) (i32.const 65535) (i32.const 3) (i32.const 0) (i32.const 4))))
;;> # tick
;;> tell 0
;;> show "cba"
;;> tell 0
;;> show ""
;;> tell 1
;;> tell 6
;;> = ()
