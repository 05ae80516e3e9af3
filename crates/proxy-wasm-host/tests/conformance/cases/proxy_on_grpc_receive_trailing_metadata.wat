;; Metadata comes last.
;; covers: proxy_on_grpc_receive_trailing_metadata
;; do: grpc_receive_trailing_metadata 8 1
(func (export "proxy_on_grpc_receive_trailing_metadata") (param i32 i32 i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (call $tell (local.get 2)))
;;> # grpc_receive_trailing_metadata 8 1
;;> tell 1
;;> tell 8
;;> tell 1
;;> = ()
