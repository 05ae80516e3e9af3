;; Prepend, replace, append by any place beyond the end.
;; covers: proxy_set_buffer_bytes
;; do: tick
(data (i32.const 16) "new")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_set_buffer_bytes (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 16) (i32.const 3)))
  (call $tell (call $proxy_set_buffer_bytes (i32.const 0) (i32.const 4) (i32.const 7) (i32.const 16) (i32.const 3)))
  (call $tell (call $proxy_set_buffer_bytes (i32.const 0) (i32.const -1) (i32.const 0) (i32.const 16) (i32.const 3)))
  (call $tell (call $proxy_set_buffer_bytes (i32.const 0) (i32.const 0) (i32.const -1) (i32.const 16) (i32.const 0)))
  (call $tell (call $proxy_set_buffer_bytes (i32.const 9) (i32.const 0) (i32.const 0) (i32.const 16) (i32.const 3)))
  (call $tell (call $proxy_set_buffer_bytes (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 65535) (i32.const 3))))
;;> # tick
;;> 1: buffer_replace HttpRequestBody 0..0 "new"
;;> tell 0
;;> 1: buffer_replace HttpRequestBody 4..11 "new"
;;> tell 0
;;> 1: buffer_replace HttpRequestBody 15..15 "new"
;;> tell 0
;;> 1: buffer_replace HttpRequestBody 0..15 ""
;;> tell 0
;;> tell 2
;;> tell 6
;;> = ()
