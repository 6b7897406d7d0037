-- flowgen's language server for Neovim 0.7.2 and later. Copy this file to ~/.config/nvim/plugin/flowgen.lua.
-- vim.g.flowgen_cmd is the command to start, { 'flowgen', 'lsp' } unless set.

local marks = { 'go.work', 'go.mod', '.git' }

-- root is the nearest folder above a file that has one of the marks, or else the file's own.
local function root(name)
  local own = vim.fn.fnamemodify(name, ':p:h')
  local dir = own
  while true do
    for _, mark in ipairs(marks) do
      if vim.loop.fs_stat(dir .. '/' .. mark) then
        return dir
      end
    end
    local up = vim.fn.fnamemodify(dir, ':h')
    if up == dir then
      return own
    end
    dir = up
  end
end

local clients = {} -- by root

local function attach(buf)
  local dir = root(vim.api.nvim_buf_get_name(buf))
  local config = { name = 'flowgen', cmd = vim.g.flowgen_cmd or { 'flowgen', 'lsp' }, root_dir = dir }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buf })
    return
  end
  local id = clients[dir]
  if not id or not vim.lsp.get_client_by_id(id) then
    id = vim.lsp.start_client(config)
    clients[dir] = id
  end
  if id then
    vim.lsp.buf_attach_client(buf, id)
  end
end

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  pattern = { '*.flowgen.yaml', '*.test.yaml', 'flowgen.bindings.yaml', '*/prompts/*' },
  callback = function(event)
    attach(event.buf or tonumber(vim.fn.expand('<abuf>')))
  end,
})
