;; No arguments; the variables that were given, and no others.
;; covers: args_sizes_get, args_get, environ_sizes_get, environ_get
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $args_sizes_get (i32.const 0) (i32.const 4)))
  (call $tell (i32.load (i32.const 0)))
  (call $tell (i32.load (i32.const 4)))
  (call $tell (call $args_get (i32.const 0) (i32.const 4)))
  (call $tell (call $args_sizes_get (i32.const 65533) (i32.const 4)))
  (call $tell (call $environ_sizes_get (i32.const 0) (i32.const 4)))
  (call $tell (i32.load (i32.const 0)))
  (call $tell (i32.load (i32.const 4)))
  (call $tell (call $environ_get (i32.const 16) (i32.const 64)))
  (call $tell (i32.load (i32.const 16)))
  (call $tell (i32.load (i32.const 20)))
  (call $show (i32.const 64) (i32.const 12))
  (call $tell (call $environ_get (i32.const 16) (i32.const 65530)))
  (call $tell (call $environ_sizes_get (i32.const 0) (i32.const 65533))))
;;> # tick
;;> tell 0
;;> tell 0
;;> tell 0
;;> tell 0
;;> tell 21
;;> tell 0
;;> tell 2
;;> tell 14
;;> tell 0
;;> tell 64
;;> tell 75
;;> show "NAME=value\x00X"
;;> tell 21
;;> tell 21
;;> = ()
