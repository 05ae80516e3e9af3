;; The function for a Redis client is known by name only: the module is loaded, and a call is unimplemented.
;; covers: proxy_redis_init
;; do: tick
(data (i32.const 16) "text")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_redis_init (i32.const 16) (i32.const 4) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000))))
;;> # tick
;;> 1: unsupported proxy_redis_init
;;> tell 12
;;> = ()
