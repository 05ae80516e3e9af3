;; What was written can be read, with the number that replaces it.
;; covers: proxy_get_shared_data
;; do: tick
(data (i32.const 16) "key")
(data (i32.const 32) "value")
(func (export "proxy_on_tick") (param i32)
  (call $value (call $proxy_get_shared_data (i32.const 16) (i32.const 3) (i32.const 0) (i32.const 4) (i32.const 8)))
  (call $tell (call $proxy_set_shared_data (i32.const 16) (i32.const 3) (i32.const 32) (i32.const 5) (i32.const 0)))
  (call $value (call $proxy_get_shared_data (i32.const 16) (i32.const 3) (i32.const 0) (i32.const 4) (i32.const 8)))
  (call $tell (i32.load (i32.const 8)))
  (call $tell (call $proxy_get_shared_data (i32.const 16) (i32.const 3) (i32.const 0) (i32.const 4) (i32.const 65533))))
;;> # tick
;;> tell 1
;;> tell 0
;;> tell 0
;;> show "value"
;;> tell 1
;;> tell 6
;;> = ()
