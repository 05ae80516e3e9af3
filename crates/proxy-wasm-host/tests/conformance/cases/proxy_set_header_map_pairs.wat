;; A map is replaced; the empty one has three forms; lengths that lie are refused.
;; covers: proxy_set_header_map_pairs
;; do: tick
(data (i32.const 16) "\02\00\00\00\01\00\00\00\01\00\00\00\01\00\00\00\02\00\00\00a\001\00b\0022\00")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_set_header_map_pairs (i32.const 0) (i32.const 16) (i32.const 29)))
  (call $tell (call $proxy_set_header_map_pairs (i32.const 0) (i32.const 16) (i32.const 0)))
  (call $tell (call $proxy_set_header_map_pairs (i32.const 0) (i32.const 60) (i32.const 1)))
  (call $tell (call $proxy_set_header_map_pairs (i32.const 0) (i32.const 60) (i32.const 4)))
  (call $tell (call $proxy_set_header_map_pairs (i32.const 0) (i32.const 16) (i32.const 28)))
  (call $tell (call $proxy_set_header_map_pairs (i32.const 8) (i32.const 16) (i32.const 29)))
  (call $tell (call $proxy_set_header_map_pairs (i32.const 0) (i32.const 65535) (i32.const 29))))
;;> # tick
;;> 1: map_set HttpRequestHeaders ["a"="1" "b"="22"]
;;> tell 0
;;> 1: map_set HttpRequestHeaders []
;;> tell 0
;;> 1: map_set HttpRequestHeaders []
;;> tell 0
;;> 1: map_set HttpRequestHeaders []
;;> tell 0
;;> tell 2
;;> tell 2
;;> tell 6
;;> = ()
