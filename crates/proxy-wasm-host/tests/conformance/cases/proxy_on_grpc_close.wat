;; A call ends.
;; covers: proxy_on_grpc_close
;; do: grpc_close 8 14
(func (export "proxy_on_grpc_close") (param i32 i32 i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2)))
;;> # grpc_close 8 14
;;> tell 1
;;> tell 8
;;> tell 14
;;> = ()
