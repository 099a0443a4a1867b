-- pieces: the index of jobs by insertion, which is stored in pieces (lib/base.lua).

return {
  -- Returns the ids of seqs; false where there is none.
  idsOf = function(seqs)
    local ids, from, n, PIECE = {}, 1, #seqs, FASTPATH.SEQS_PER_PIECE
    while from <= n do
      local piece, fields, to = math.floor(seqs[from] / PIECE), {}, from
      repeat
        fields[to - from + 1] = ('%d'):format(seqs[to] % PIECE)
        to = to + 1
      until to > n or math.floor(seqs[to] / PIECE) ~= piece
      local found = call('HMGET', P .. ('s:%d'):format(piece), unpack(fields))
      for i = from, to - 1 do ids[i] = found[i - from + 1] end
      from = to
    end
    return ids
  end,
}
