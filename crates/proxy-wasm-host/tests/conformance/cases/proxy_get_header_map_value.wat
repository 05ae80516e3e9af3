;; The value of a field; the host joins several; whatever the case of letters.
;; covers: proxy_get_header_map_value
;; do: tick
(data (i32.const 16) ":path")
(data (i32.const 32) "X-Two")
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_header_map_value (i32.const 0) (i32.const 16) (i32.const 5) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_value (i32.const 0) (i32.const 32) (i32.const 5) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_value (i32.const 8) (i32.const 16) (i32.const 5) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_value (i32.const 0) (i32.const 65535) (i32.const 5) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_value (i32.const 0) (i32.const 16) (i32.const 5) (i32.const 0) (i32.const 65533))))
;;> # tick
;;> tell 0
;;> show "/hello"
;;> tell 0
;;> show "a,b"
;;> tell 2
;;> tell 6
;;> tell 6
;;> = ()
