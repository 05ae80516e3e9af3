;; Status, details, body, fields and a status of gRPC, or -1 for none.
;; covers: proxy_send_local_response
;; do: tick
(data (i32.const 16) "details")
(data (i32.const 32) "no")
(data (i32.const 48) "\01\00\00\00\01\00\00\00\02\00\00\00k\00vv\00")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_send_local_response (i32.const 403) (i32.const 16) (i32.const 7) (i32.const 32) (i32.const 2) (i32.const 48) (i32.const 17) (i32.const -1)))
  (call $tell (call $proxy_send_local_response (i32.const 503) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 14)))
  (call $tell (call $proxy_send_local_response (i32.const 403) (i32.const 16) (i32.const 7) (i32.const 65535) (i32.const 2) (i32.const 0) (i32.const 0) (i32.const -1)))
  (call $tell (call $proxy_send_local_response (i32.const 403) (i32.const 16) (i32.const 7) (i32.const 32) (i32.const 2) (i32.const 48) (i32.const 12) (i32.const -1))))
;;> # tick
;;> 1: send_local_response 403 "details" "no" ["k"="vv"] None
;;> tell 0
;;> 1: send_local_response 503 "" "" [] Some(14)
;;> tell 0
;;> tell 6
;;> tell 2
;;> = ()
