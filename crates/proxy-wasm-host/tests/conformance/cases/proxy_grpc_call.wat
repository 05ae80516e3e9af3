;; One message to another server gives a number.
;; covers: proxy_grpc_call
;; do: tick
(data (i32.const 16) "other")
(data (i32.const 32) "Service")
(data (i32.const 48) "Method")
(data (i32.const 64) "\01\00\00\00\01\00\00\00\02\00\00\00k\00vv\00")
(data (i32.const 96) "message")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_grpc_call (i32.const 16) (i32.const 5) (i32.const 32) (i32.const 7) (i32.const 48) (i32.const 6) (i32.const 64) (i32.const 17) (i32.const 96) (i32.const 7) (i32.const 2000) (i32.const 0)))
  (call $tell (i32.load (i32.const 0)))
  (call $tell (call $proxy_grpc_call (i32.const 16) (i32.const 5) (i32.const 32) (i32.const 7) (i32.const 48) (i32.const 6) (i32.const 64) (i32.const 17) (i32.const 65535) (i32.const 7) (i32.const 2000) (i32.const 0)))
  (call $tell (call $proxy_grpc_call (i32.const 16) (i32.const 5) (i32.const 32) (i32.const 7) (i32.const 48) (i32.const 6) (i32.const 64) (i32.const 17) (i32.const 96) (i32.const 7) (i32.const 2000) (i32.const 65533))))
;;> # tick
;;> 1: grpc_call "other" "Service" "Method" ["k"="vv"] "message" 2s
;;> tell 0
;;> tell 8
;;> tell 6
;;> tell 6
;;> = ()
