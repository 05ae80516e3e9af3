;; The size of the map as it would be written.
;; covers: proxy_get_header_map_size
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_get_header_map_size (i32.const 0) (i32.const 0)))
  (call $tell (i32.load (i32.const 0)))
  (call $tell (call $proxy_get_header_map_size (i32.const 8) (i32.const 0)))
  (call $tell (call $proxy_get_header_map_size (i32.const 0) (i32.const 65533))))
;;> # tick
;;> tell 0
;;> tell 57
;;> tell 2
;;> tell 6
;;> = ()
