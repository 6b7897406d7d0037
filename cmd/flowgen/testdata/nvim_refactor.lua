-- A session of a person in a new project, with what changes several files. Each step writes a line to $OUT.
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
local function goto_text(text, skip)
  vim.fn.cursor(1, 1)
  vim.fn.search('\\V' .. text, 'cW')
  vim.fn.cursor(vim.fn.line('.'), vim.fn.col('.') + (skip or 0))
end
local function lines(name)
  local buf = vim.fn.bufnr(name)
  return buf < 0 and '' or table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end
local chosen
vim.ui.select = function(items, _, done)
  for _, item in ipairs(items) do
    if item[2].title == chosen then
      return done(item)
    end
  end
  say('not offered:', chosen)
  finish()
end

local ok, err = pcall(function()
  dofile(vim.env.PLUGIN)
  vim.cmd('edit m.flowgen.yaml')
  local flow = vim.api.nvim_get_current_buf()
  wait('a client', function() return #vim.lsp.buf_get_clients(0) > 0 end)
  wait('a diagnostic', function() return #vim.diagnostic.get(flow) > 0 end)
  say('diagnostic:', vim.diagnostic.get(flow)[1].message)
  goto_text('./tools.Search', 9)
  chosen = 'write the Go function Search'
  vim.lsp.buf.code_action()
  wait('the function', function() return lines('tools/search.go'):find('func Search', 1, true) end)
  say('written:', lines('tools/search.go'):match('func Search[^\n]*'))
  vim.cmd('silent wall')
  vim.cmd('buffer ' .. flow)
  vim.cmd('silent write') -- Neovim says nothing of files that no server has; a save looks for the function again
  wait('no diagnostics', function() return #vim.diagnostic.get(flow) == 0 end)
  vim.cmd('buffer ' .. flow)
  local first, last = vim.fn.search('\\V  found:', 'cw'), vim.fn.search('\\V  said:', 'cw')
  chosen = 'move 2 nodes into a flow of their own'
  vim.lsp.buf.range_code_action(nil, { first, 0 }, { last, 10 })
  wait('the flow', function() return lines('m.flowgen.yaml'):find('found_to_said:', 1, true) end)
  say('extracted:', lines('m.flowgen.yaml'):match('found_to_said:[^\n]*'))
  say('output:', lines('m_found_to_said.flowgen.yaml'):match('output:\n([^\n]*)'))
  vim.cmd('silent wall')
  vim.cmd('edit m_found_to_said.flowgen.yaml')
  goto_text('search:')
  vim.lsp.buf.incoming_calls()
  wait('callers', function() return #vim.fn.getqflist() > 0 end)
  say('caller:', vim.fn.getqflist()[1].text)
end)
if not ok then
  say('error:', err)
end
finish()
