;; A pair is put in place of those there are.
;; covers: proxy_replace_header_map_value
;; do: tick
(data (i32.const 16) "key")
(data (i32.const 32) "value")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_replace_header_map_value (i32.const 0) (i32.const 16) (i32.const 3) (i32.const 32) (i32.const 5)))
  (call $tell (call $proxy_replace_header_map_value (i32.const 8) (i32.const 16) (i32.const 3) (i32.const 32) (i32.const 5)))
  (call $tell (call $proxy_replace_header_map_value (i32.const 0) (i32.const 65535) (i32.const 3) (i32.const 32) (i32.const 5)))
  (call $tell (call $proxy_replace_header_map_value (i32.const 0) (i32.const 16) (i32.const 3) (i32.const 32) (i32.const -1))))
;;> # tick
;;> 1: map_replace HttpRequestHeaders "key"="value"
;;> tell 0
;;> tell 2
;;> tell 6
;;> tell 6
;;> = ()
