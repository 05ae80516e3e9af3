;; A field that is missing is not found.
;; covers: proxy_get_header_map_value
;; abi: 0.2.0, 0.2.1, 0.2.100
;; do: tick
(data (i32.const 16) "missing")
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_header_map_value (i32.const 0) (i32.const 16) (i32.const 7) (i32.const 0) (i32.const 4))))
;;> # tick
;;> tell 1
;;> = ()
