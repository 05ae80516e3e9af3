;; How a call ended, as a number and a message.
;; covers: proxy_get_status
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_status (i32.const 8) (i32.const 0) (i32.const 4)))
  (call $tell (i32.load (i32.const 8)))
  (call $tell (call $proxy_get_status (i32.const 65533) (i32.const 0) (i32.const 4))))
;;> # tick
;;> tell 0
;;> show "unavailable"
;;> tell 14
;;> tell 6
;;> = ()
