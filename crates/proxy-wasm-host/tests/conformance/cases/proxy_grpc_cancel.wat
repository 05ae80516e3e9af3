;; A call ends; one that there is not is not found.
;; covers: proxy_grpc_cancel
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_grpc_cancel (i32.const 9)))
  (call $tell (call $proxy_grpc_cancel (i32.const 1))))
;;> # tick
;;> 1: grpc_cancel 9
;;> tell 0
;;> 1: grpc_cancel 1
;;> tell 1
;;> = ()
