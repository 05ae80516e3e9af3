;; A connection comes.
;; covers: proxy_on_new_connection
;; do: new_connection
(func (export "proxy_on_new_connection") (param i32) (result i32)
  (call $tell (local.get 0))
  (i32.const 1))
;;> # new_connection
;;> tell 2
;;> = Pause
