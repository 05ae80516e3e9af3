;; A message comes.
;; covers: proxy_on_grpc_receive
;; do: grpc_receive 8 100
(func (export "proxy_on_grpc_receive") (param i32 i32 i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2)))
;;> # grpc_receive 8 100
;;> tell 1
;;> tell 8
;;> tell 100
;;> = ()
