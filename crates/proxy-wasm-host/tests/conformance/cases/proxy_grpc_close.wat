;; A call ends; one that there is not is not found.
;; covers: proxy_grpc_close
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_grpc_close (i32.const 9)))
  (call $tell (call $proxy_grpc_close (i32.const 1))))
;;> # tick
;;> 1: grpc_close 9
;;> tell 0
;;> 1: grpc_close 1
;;> tell 1
;;> = ()
