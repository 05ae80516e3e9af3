;; A property is set by its path.
;; covers: proxy_set_property
;; do: tick
(data (i32.const 16) "plugin\00name")
(data (i32.const 32) "value")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_set_property (i32.const 16) (i32.const 11) (i32.const 32) (i32.const 5)))
  (call $tell (call $proxy_set_property (i32.const 16) (i32.const 11) (i32.const 32) (i32.const -1))))
;;> # tick
;;> 1: set_property "plugin"."name" "value"
;;> tell 0
;;> tell 6
;;> = ()
