;; The size, and flags of zero.
;; covers: proxy_get_buffer_status
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (i32.store (i32.const 4) (i32.const 77))
  (call $tell (call $proxy_get_buffer_status (i32.const 0) (i32.const 0) (i32.const 4)))
  (call $tell (i32.load (i32.const 0)))
  (call $tell (i32.load (i32.const 4)))
  (call $tell (call $proxy_get_buffer_status (i32.const 9) (i32.const 0) (i32.const 4)))
  (call $tell (call $proxy_get_buffer_status (i32.const 0) (i32.const 65533) (i32.const 4))))
;;> # tick
;;> tell 0
;;> tell 15
;;> tell 0
;;> tell 2
;;> tell 6
;;> = ()
