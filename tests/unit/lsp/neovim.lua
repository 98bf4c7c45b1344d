-- SPDX-License-Identifier: Apache-2.0
-- Opens a chip with a misspelt key, takes the first quick fix and tells in JSON what was seen.
-- The environment names the CHIP, the SETUP of docs/editor.md, and the file for the ANSWER.
local function look()
  if vim.lsp.config then
    dofile(vim.env.SETUP)
  end
  vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.CHIP))
  if not vim.lsp.config then -- before 0.11
    vim.lsp.buf_attach_client(0, vim.lsp.start_client({ name = 'atoll', cmd = { 'atoll', 'lsp' } }))
  end

  local function wait_for(what, is_there)
    if not vim.wait(60000, is_there, 50) then
      error('no ' .. what)
    end
  end

  local function ask(method, more)
    local text_document = { uri = vim.uri_from_bufnr(0) }
    local params = vim.tbl_extend('force', { textDocument = text_document }, more)
    local answers = assert(vim.lsp.buf_request_sync(0, method, params, 60000))
    for _, each in pairs(answers) do
      assert(not each.error, vim.inspect(each.error))
      return each.result
    end
  end

  wait_for('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
  local fault = vim.diagnostic.get(0)[1]
  local place = { line = fault.lnum, character = fault.col }
  local hover = ask('textDocument/hover', { position = place })
  local range = { start = place, ['end'] = place }
  local actions = ask('textDocument/codeAction', { range = range, context = { diagnostics = {} } })
  vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
  wait_for('judgement of the mended text', function() return #vim.diagnostic.get(0) == 0 end)

  local file = assert(io.open(vim.env.ANSWER, 'w'))
  file:write(vim.json.encode({
    fault = { fault.code, fault.lnum, fault.col, fault.message },
    hover = hover.contents.value,
    title = actions[1].title,
    text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') .. '\n',
  }))
  file:close()
end

local is_done, why = pcall(look)
if not is_done then
  io.stderr:write(why .. '\n')
end
vim.cmd(is_done and 'qall!' or 'cquit')
