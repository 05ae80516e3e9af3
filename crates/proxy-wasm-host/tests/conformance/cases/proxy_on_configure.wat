;; The plugin is configured with so many bytes.
;; covers: proxy_on_configure
;; do: 
(func (export "proxy_on_configure") (param i32 i32) (result i32)
  (call $tell (local.get 0))
  (call $tell (local.get 1))
  (i32.const 1))
;;> tell 1
;;> tell 27
