;; Configurations are the machine's own: they can be read and not written.
;; covers: proxy_get_buffer_bytes, proxy_set_buffer_bytes
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_buffer_bytes (i32.const 6) (i32.const 0) (i32.const 100) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_buffer_bytes (i32.const 7) (i32.const 0) (i32.const 100) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_buffer_bytes (i32.const 8) (i32.const 0) (i32.const 100) (i32.const 0) (i32.const 4)))
  (call $tell (call $proxy_set_buffer_bytes (i32.const 7) (i32.const 0) (i32.const 1) (i32.const 16) (i32.const 1))))
;;> # tick
;;> tell 0
;;> show "configuration of the machine"
;;> tell 0
;;> show "configuration of the plugin"
;;> tell 0
;;> show ""
;;> tell 2
;;> = ()
