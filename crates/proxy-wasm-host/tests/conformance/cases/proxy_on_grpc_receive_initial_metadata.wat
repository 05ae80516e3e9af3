;; Metadata comes first.
;; covers: proxy_on_grpc_receive_initial_metadata
;; do: grpc_receive_initial_metadata 8 2
(func (export "proxy_on_grpc_receive_initial_metadata") (param i32 i32 i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2)))
;;> # grpc_receive_initial_metadata 8 2
;;> tell 1
;;> tell 8
;;> tell 2
;;> = ()
