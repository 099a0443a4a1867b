#!/usr/bin/env ruby
require_relative 'longhaul'

$stdout.sync = true
n = Longhaul.data['n']
first = (Longhaul.last_checkpoint || { 'done' => 0 })['done'] + 1
sum = 0
(first..n).each do |i|
  puts "square of #{i} is #{i * i}"
  sum += i * i
  Longhaul.progress(100 * i / n, "number #{i}")
  Longhaul.checkpoint({ done: i })
end
File.write('out/sum.txt', "#{sum}\n")
Longhaul.tag('squares')
puts Longhaul.dup('copies')
Longhaul.result({ sum: sum })
Longhaul.done("squared #{n} numbers")
