-- fast-heartbeat: `heartbeat` that renews leases, with progress, a start or a checkpoint (see fastpath.lua). ARGV and answer as
-- in operations/heartbeat.lua.
-- uses: batch

local RENEWED = ' token leaseMs started percent text checkpoint '

local function set(fields, name, value)
  return fields:gsub('\31' .. name .. '=[^\31]*', '') .. (value and '\31' .. name .. '=' .. value or '')
end

local function renew(id, text, request)
  local given = {}
  for name, value in request:gmatch('\31(%a+)=([^\31]*)') do
    if not RENEWED:find(' ' .. name .. ' ', 1, true) then return nil end
    given[name] = value
  end
  local head, seq, queue, token, length, holder, stop = text:match(
    '^(r(%d+) %d+ ([^\31]+)\31attempt=%d+\31lease=(%d+) )(%d+) %d+( %d+ [^\31]*)()')
  local rowsAt = token and token == given.token and text:find('\31rows=', stop, true)
  if not rowsAt then return nil end
  local fields, ms, percent, started = text:sub(stop, rowsAt - 1), tonumber(given.leaseMs or length), given.percent, given.started
  if ms % 1 ~= 0 or (given.checkpoint and fields:find('\31apart=', 1, true))
    or (percent and (batch.isHooked(queue) or fields:find('\31hooks=', 1, true))) then return nil end
  if started then
    fields = set(fields, 'startedAt', fields:match('\31startedAt=([^\31]*)') or batch.nowText)
    fields = set(fields, 'pid', started ~= '-' and started)
  end
  if percent then fields = set(fields, 'progress', percent .. ' ' .. batch.nowText .. (given.text and '\30' .. given.text or '')) end
  if given.checkpoint then fields = set(fields, 'checkpoint', given.checkpoint) end
  if percent or started then batch.emit('progress', 'running', queue, id) end
  local to = ('%d'):format(batch.now + ms)
  batch.record(id, head .. ('%d '):format(ms) .. to .. holder .. fields .. text:sub(rowsAt), seq)
  batch.enter('running:' .. queue, to, ('%013x'):format(seq))
  return to .. (fields:find('\31cancelAskedAt=', 1, true) and 'c' or '') .. (fields:find('\31pauseAskedAt=', 1, true) and 'p' or '')
end

return {
  heartbeat = function()
    local ids, answers = {}, {}
    if #args % 2 == 0 or #args == 1 or not batch.idsAt(2, #args, ids, {}) or not batch.start('token') then return nil end
    local found = call('HMGET', P .. 'j', unpack(ids))
    for i = 1, #ids do
      answers[i] = renew(ids[i], found[i] or '', args[2 * i + 1])
      if not answers[i] then return nil end
    end
    batch.flush()
    return table.concat(answers, '\31')
  end,
}
