;; A request to another server gives a number; fields that are needed and missing are a mistake.
;; covers: proxy_http_call
;; do: tick
(data (i32.const 16) "other")
(data (i32.const 32) "body")
(data (i32.const 64) "\03\00\00\00\07\00\00\00\03\00\00\00\05\00\00\00\01\00\00\00\0a\00\00\00\01\00\00\00:method\00GET\00:path\00/\00:authority\00a\00")
(data (i32.const 200) "\01\00\00\00\01\00\00\00\02\00\00\00k\00vv\00")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_http_call (i32.const 16) (i32.const 5) (i32.const 64) (i32.const 61) (i32.const 32) (i32.const 4) (i32.const 200) (i32.const 17) (i32.const 1500) (i32.const 0)))
  (call $tell (i32.load (i32.const 0)))
  (call $tell (call $proxy_http_call (i32.const 16) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 32) (i32.const 4) (i32.const 0) (i32.const 0) (i32.const 1500) (i32.const 0)))
  (call $tell (call $proxy_http_call (i32.const 16) (i32.const 5) (i32.const 64) (i32.const 61) (i32.const 32) (i32.const 4) (i32.const 0) (i32.const 0) (i32.const 1500) (i32.const 65533))))
;;> # tick
;;> 1: http_call "other" [":method"="GET" ":path"="/" ":authority"="a"] "body" ["k"="vv"] 1.5s
;;> tell 0
;;> tell 7
;;> tell 2
;;> tell 6
;;> = ()
