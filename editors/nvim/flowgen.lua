-- flowgen's language server for Neovim 0.7.2 and later. Copy this file to ~/.config/nvim/plugin/flowgen.lua.
-- vim.g.flowgen_cmd is the command to start, { 'flowgen', 'lsp' } unless set. vim.g.flowgen_files are patterns of further files: those of
-- other engines, as '*/graphs/*.yaml', and prompts outside of folders that are called prompts.

local marks = { 'go.work', 'go.mod', '.git' }

-- root is the nearest folder above a file that has one of the marks, or else the highest one with workflows, or else the file's own.
local function root(name)
  local own = vim.fn.fnamemodify(name, ':p:h')
  local dir = own
  while true do
    if #vim.fn.globpath(dir, '*.flowgen.yaml', true, true) > 0 then
      own = dir
    end
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

-- The commands of lenses, which vim.lsp.codelens.run() runs: a command line in a terminal, and a document of the server next to the file.
vim.lsp.commands['flowgen.terminal'] = function(command)
  local line = command.arguments[1]
  local args = vim.deepcopy(line.args)
  args[1] = (vim.g.flowgen_cmd or { 'flowgen' })[1]
  vim.cmd('botright 12new')
  vim.fn.termopen(args, { cwd = vim.uri_to_fname(line.cwd) })
end

vim.lsp.commands['flowgen.show'] = function(command, context)
  local what = command.arguments[1]
  local client = vim.lsp.get_client_by_id(context.client_id)
  local from = vim.api.nvim_get_current_win()
  client.request('workspace/executeCommand', { command = what.command, arguments = what.arguments }, function(err, shown)
    if err then
      vim.notify(err.message, vim.log.levels.ERROR)
      return
    end
    vim.cmd('rightbelow vnew')
    local win, buf = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(shown.text, '\n'))
    vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].filetype = 'nofile', 'wipe', shown.languageId
    vim.bo[buf].modifiable = false
    vim.api.nvim_set_current_win(from)
    vim.api.nvim_create_autocmd('CursorMoved', { -- the place in the other window is kept in step
      buffer = vim.api.nvim_win_get_buf(from),
      callback = function()
        if not vim.api.nvim_win_is_valid(win) then
          return true
        end
        local line, best = vim.fn.line('.') - 1, nil
        for _, pair in ipairs(shown.lines) do
          if pair.workflow <= line and (not best or pair.workflow > best.workflow) then
            best = pair
          end
        end
        if best then
          vim.api.nvim_win_set_cursor(win, { best.shown + 1, 0 })
        end
      end,
    })
  end)
end

local clients = {} -- by root

local function attach(buf)
  local dir = root(vim.api.nvim_buf_get_name(buf))
  local config = {
    name = 'flowgen',
    cmd = vim.g.flowgen_cmd or { 'flowgen', 'lsp' },
    root_dir = dir,
    init_options = { commands = { 'flowgen.terminal', 'flowgen.show' } },
    on_attach = function(client, bufnr)
      vim.diagnostic.config({ update_in_insert = true }, vim.lsp.diagnostic.get_namespace(client.id)) -- underlines while you type
      vim.bo[bufnr].omnifunc = 'v:lua.vim.lsp.omnifunc'
      vim.bo[bufnr].formatexpr = 'v:lua.vim.lsp.formatexpr()'
    end,
  }
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
  pattern = vim.list_extend({ '*.flowgen.yaml', '*.test.yaml', 'flowgen.bindings.yaml', 'flowgen.lock', '*/prompts/*' }, vim.g.flowgen_files or {}),
  callback = function(event)
    attach(event.buf or tonumber(vim.fn.expand('<abuf>')))
  end,
})
