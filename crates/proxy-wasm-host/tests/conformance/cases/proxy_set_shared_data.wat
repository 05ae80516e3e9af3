;; A number that is not the last writer's changes nothing; zero asks for nothing.
;; covers: proxy_set_shared_data
;; do: tick
(data (i32.const 16) "key")
(data (i32.const 32) "value")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_set_shared_data (i32.const 16) (i32.const 3) (i32.const 32) (i32.const 5) (i32.const 5)))
  (call $tell (call $proxy_set_shared_data (i32.const 16) (i32.const 3) (i32.const 32) (i32.const 5) (i32.const 0)))
  (call $tell (call $proxy_set_shared_data (i32.const 16) (i32.const 3) (i32.const 33) (i32.const 4) (i32.const 1)))
  (call $tell (call $proxy_set_shared_data (i32.const 16) (i32.const 3) (i32.const 34) (i32.const 3) (i32.const 1)))
  (call $value (call $proxy_get_shared_data (i32.const 16) (i32.const 3) (i32.const 0) (i32.const 4) (i32.const 8)))
  (call $tell (call $proxy_set_shared_data (i32.const 16) (i32.const 3) (i32.const 65535) (i32.const 5) (i32.const 0))))
;;> # tick
;;> tell 8
;;> tell 0
;;> tell 0
;;> tell 8
;;> tell 0
;;> show "alue"
;;> tell 6
;;> = ()
