;; The host says which records are of use.
;; covers: proxy_get_log_level
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_get_log_level (i32.const 0)))
  (call $tell (i32.load (i32.const 0)))
  (call $tell (call $proxy_get_log_level (i32.const 65533))))
;;> # tick
;;> tell 0
;;> tell 3
;;> tell 6
;;> = ()
