;;; flowgen.el --- flowgen's language server with Eglot -*- lexical-binding: t -*-

;; Emacs 29 has Eglot. Put this file into the load path and (require 'flowgen) into the init file.

;;; Code:

(define-derived-mode flowgen-mode prog-mode "flowgen"
  "Workflows of flowgen: YAML, known by `flowgen lsp'."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+ *")
  (setq-local indent-tabs-mode nil)
  (setq-local tab-width 2))

(add-to-list 'auto-mode-alist '("\\.flowgen\\.yaml\\'" . flowgen-mode))
(add-to-list 'auto-mode-alist '("\\.test\\.yaml\\'" . flowgen-mode))
(add-to-list 'auto-mode-alist '("/flowgen\\.bindings\\.yaml\\'" . flowgen-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(flowgen-mode . ("flowgen" "lsp"))))

(add-hook 'flowgen-mode-hook
          (lambda () (when (fboundp 'eglot-ensure) (eglot-ensure))))

(provide 'flowgen)
;;; flowgen.el ends here
