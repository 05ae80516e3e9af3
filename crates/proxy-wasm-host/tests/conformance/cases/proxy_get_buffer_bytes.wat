;; A part, the rest from a place on, nothing at the very end; beyond it and unknown buffers are refused.
;; covers: proxy_get_buffer_bytes
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_buffer_bytes (i32.const 0) (i32.const 4) (i32.const 7) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_buffer_bytes (i32.const 1) (i32.const 4) (i32.const -1) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_buffer_bytes (i32.const 0) (i32.const 15) (i32.const 1) (i32.const 0) (i32.const 4)))
  (call $tell (i32.load (i32.const 0)))
  (call $value (call $proxy_get_buffer_bytes (i32.const 0) (i32.const 16) (i32.const 1) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_buffer_bytes (i32.const 9) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_buffer_bytes (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 65533) (i32.const 4))))
;;> # tick
;;> tell 0
;;> show "Request"
;;> tell 0
;;> show "ResponseBody"
;;> tell 0
;;> show ""
;;> tell 0
;;> tell 2
;;> tell 2
;;> tell 6
;;> = ()
