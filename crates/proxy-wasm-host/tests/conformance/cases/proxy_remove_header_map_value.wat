;; All pairs with a key go, and it is no mistake if there are none.
;; covers: proxy_remove_header_map_value
;; do: tick
(data (i32.const 16) "key")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_remove_header_map_value (i32.const 0) (i32.const 16) (i32.const 3)))
  (call $tell (call $proxy_remove_header_map_value (i32.const 8) (i32.const 16) (i32.const 3)))
  (call $tell (call $proxy_remove_header_map_value (i32.const 0) (i32.const 65535) (i32.const 3))))
;;> # tick
;;> 1: map_remove HttpRequestHeaders "key"
;;> tell 0
;;> tell 2
;;> tell 6
;;> = ()
