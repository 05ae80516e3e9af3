;; A module may refuse its configuration.
;; covers: proxy_on_configure
;; do: 
(func (export "proxy_on_configure") (param i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (i32.const 0))
;;> tell 1
;;> tell 27
;;> = Configure
