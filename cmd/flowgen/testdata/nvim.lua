-- A session of a person in examples/triage. Each step writes a line to $OUT.
local out = assert(io.open(vim.env.OUT, 'w'))
local function say(...)
  out:write(table.concat({ ... }, ' '), '\n')
  out:flush()
end
local function finish()
  out:close()
  vim.cmd('qall!')
end
local function wait(what, f)
  if not vim.wait(240000, f, 20) then
    say('timeout:', what)
    finish()
  end
end
local function ask(method)
  local params = vim.lsp.util.make_position_params()
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 240000) or {}) do
    return answer.result
  end
end
local function goto_text(text, skip)
  vim.fn.cursor(1, 1)
  vim.fn.search('\\V' .. text, 'cW')
  vim.fn.cursor(vim.fn.line('.'), vim.fn.col('.') + (skip or 0))
end
local function lines(name)
  local buf = vim.fn.bufnr(name)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

local ok, err = pcall(function()
  dofile(vim.env.PLUGIN)
  vim.cmd('edit prompts/plan.md')
  wait('a client', function() return #vim.lsp.buf_get_clients(0) > 0 end)
  vim.cmd('%s/{{ diff }}/{{ dif }}/')
  wait('a diagnostic', function() return #vim.diagnostic.get(0) > 0 end)
  local d = vim.diagnostic.get(0)[1]
  local text = vim.api.nvim_buf_get_lines(0, d.lnum, d.lnum + 1, false)[1]
  say('diagnostic:', text:sub(d.col + 1, d.end_col))
  say('while typing:', tostring(vim.diagnostic.config(nil, d.namespace).update_in_insert))
  vim.cmd('%s/{{ dif }}/{{ d }}/')
  goto_text('{{ d }}', 4)
  local labels = {}
  for _, item in ipairs(ask('textDocument/completion').items) do
    table.insert(labels, item.label)
  end
  say('completion:', labels[1])
  vim.cmd('%s/{{ d }}/{{ diff }}/')
  wait('no diagnostics', function() return #vim.diagnostic.get(0) == 0 end)
  say('mended')

  vim.cmd('edit triage.flowgen.yaml')
  wait('a client', function() return #vim.lsp.buf_get_clients(0) > 0 end)
  vim.cmd('1s/flowgen: 1/flowgen:    1/')
  if vim.lsp.buf.format then vim.lsp.buf.format({ timeout_ms = 240000 }) else vim.lsp.buf.formatting_sync(nil, 240000) end
  say('formatted:', vim.fn.getline(1))
  goto_text('./source.Parse', 4)
  wait('the Go', function() local r = ask('textDocument/definition'); return r and #r > 0 end)
  vim.lsp.buf.definition()
  wait('the jump', function() return vim.fn.expand('%:e') == 'go' end)
  say('jump:', vim.fn.getline('.'))
  vim.cmd('buffer triage.flowgen.yaml')
  goto_text('fetch:')
  vim.lsp.buf.rename('download')
  wait('the rename', function() return lines('triage.flowgen.yaml'):find('download: {tool: diff', 1, true) end)
  wait('the rename in the test', function() return vim.fn.bufnr('triage.test.yaml') > 0 and lines('triage.test.yaml'):find('download', 1, true) end)
  say('renamed:', tostring(lines('triage.flowgen.yaml'):find('fetch') == nil))
end)
if not ok then
  say('error:', err)
end
finish()
