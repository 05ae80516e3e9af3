;; A message on a stream, which may be its last; a stream that there is not is not found.
;; covers: proxy_grpc_send
;; do: tick
(data (i32.const 96) "message")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_grpc_send (i32.const 9) (i32.const 96) (i32.const 7) (i32.const 0)))
  (call $tell (call $proxy_grpc_send (i32.const 9) (i32.const 96) (i32.const 7) (i32.const 1)))
  (call $tell (call $proxy_grpc_send (i32.const 1) (i32.const 96) (i32.const 7) (i32.const 0)))
  (call $tell (call $proxy_grpc_send (i32.const 9) (i32.const 65535) (i32.const 7) (i32.const 0))))
;;> # tick
;;> 1: grpc_send 9 "message" More
;;> tell 0
;;> 1: grpc_send 9 "message" End
;;> tell 0
;;> 1: grpc_send 1 "message" More
;;> tell 1
;;> tell 6
;;> = ()
