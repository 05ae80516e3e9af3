;; Count, lengths, then keys and values with a zero byte after each; for every kind of map.
;; covers: proxy_get_header_map_pairs
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_header_map_pairs (i32.const 0) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_pairs (i32.const 1) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_pairs (i32.const 2) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_pairs (i32.const 3) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_pairs (i32.const 4) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_pairs (i32.const 5) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_pairs (i32.const 6) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_pairs (i32.const 7) (i32.const 0) (i32.const 4)))
  (call $value (call $proxy_get_header_map_pairs (i32.const 8) (i32.const 0) (i32.const 4))))
;;> # tick
;;> tell 0
;;> show "\x03\x00\x00\x00\x05\x00\x00\x00\x06\x00\x00\x00\x05\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00\x01\x00\x00\x00:path\x00/hello\x00x-two\x00a\x00x-two\x00b\x00"
;;> tell 0
;;> show "\x01\x00\x00\x00\x03\x00\x00\x00\x13\x00\x00\x00map\x00HttpRequestTrailers\x00"
;;> tell 0
;;> show "\x01\x00\x00\x00\x03\x00\x00\x00\x13\x00\x00\x00map\x00HttpResponseHeaders\x00"
;;> tell 0
;;> show "\x01\x00\x00\x00\x03\x00\x00\x00\x14\x00\x00\x00map\x00HttpResponseTrailers\x00"
;;> tell 0
;;> show "\x01\x00\x00\x00\x03\x00\x00\x00\x17\x00\x00\x00map\x00GrpcCallInitialMetadata\x00"
;;> tell 0
;;> show "\x01\x00\x00\x00\x03\x00\x00\x00\x18\x00\x00\x00map\x00GrpcCallTrailingMetadata\x00"
;;> tell 0
;;> show "\x01\x00\x00\x00\x03\x00\x00\x00\x17\x00\x00\x00map\x00HttpCallResponseHeaders\x00"
;;> tell 0
;;> show "\x01\x00\x00\x00\x03\x00\x00\x00\x18\x00\x00\x00map\x00HttpCallResponseTrailers\x00"
;;> tell 2
;;> = ()
