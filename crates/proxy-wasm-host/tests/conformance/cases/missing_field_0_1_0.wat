;; A field that is missing has an empty value for modules built for 0.1.0.
;; covers: proxy_get_header_map_value
;; abi: 0.1.0
;; do: tick
(data (i32.const 16) "missing")
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_header_map_value (i32.const 0) (i32.const 16) (i32.const 7) (i32.const 0) (i32.const 4))))
;;> # tick
;;> tell 0
;;> show ""
;;> = ()
