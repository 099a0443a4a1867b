-- aggregate-log: adds all pending entries of the log of statistics to the cells, and empties the log.
--
-- One HSET writes the cells and that their entries are no longer pending. An entry field that is left behind after that is not
-- read, and a later entry overwrites it. More cells than one HSET should write take several steps: each one but the last
-- empties its own entries.
-- uses: aggregates

local function aggregateLog()
  local log, BATCH = aggregates().log, 1000
  local list, from = log.entries(), 1
  if list.count == 0 then return end

  -- Cells are in their indexes before they are written.
  local function enter(cells)
    local lists, order = {}, {}
    for i = 1, #cells do
      local queue, day = cells[i].queue, cells[i].day
      if not lists[queue] then lists[queue], order[#order + 1] = {}, queue end
      local list = lists[queue]
      list[#list + 1], list[#list + 2] = day, day .. '\31' .. cells[i].name
    end
    for i = 1, #order do
      write('ZADD', P .. 'cells:' .. order[i], unpack(lists[order[i]]))
      write('ZADD', P .. 'buckets:' .. order[i], unpack(lists[order[i]]))
    end
  end

  local function fieldsOf(sum)
    local set, cells, new = {}, aggregates().mergedCells(sum)
    local function add(list)
      for i = 1, #list do set[#set + 1], set[#set + 2] = list[i].address, list[i].words end
    end
    add(cells)
    add(aggregates().mergedPages(sum))
    for queue, sums in pairs(sum.storage) do
      set[#set + 1] = '$' .. queue
      set[#set + 1] = struct.pack('>ddddd', unpack(aggregates().storageOf(queue, sums)))
    end
    return set, new
  end

  while from <= list.count do
    local sum, to = log.sumFrom(list, from, BATCH)
    local set, new = fieldsOf(sum)
    enter(new)
    if to == list.count then
      set[#set + 1], set[#set + 2] = '+', '0'
    else
      for i = from, to do set[#set + 1], set[#set + 2] = '+' .. i, '' end
    end
    write('HSET', P .. 'j', unpack(set))
    from = to + 1
  end
  for first = 1, list.count, BATCH do
    write('HDEL', P .. 'j', unpack(log.fieldNames(first, math.min(first + BATCH - 1, list.count))))
  end
  log.forget()
end

