-- history: ARGV: clock, id. Returns the record, which holds its rows, or nothing.
return call('HGET', P .. 'j', args[2])
